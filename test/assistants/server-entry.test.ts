import { describe, expect, test } from "bun:test";
import {
  isOurs,
  packArgumentOf,
  type ServerCommand,
  toMembers,
} from "../../src/assistants/server-entry.ts";

const TYPED = { language: "json", section: "servers", types: ["stdio", "http"] } as const;

describe("an entry is of this program", () => {
  test.each([
    { command: "/opt/svc", args: ["mcp"] },
    { command: "svc", args: ["mcp", "--tools", "core"] },
    { command: "C:\\\\tools\\\\svc.exe", args: ["mcp"] },
    { command: "/opt/svc-linux-x64", args: ["mcp", "--db-path", "/m.pack"] },
    { command: "/opt/renamed", args: ["mcp", "--db-path=/m.pack"] },
    { command: "bun", args: ["src/main.ts", "mcp", "--db-path", "/m.pack"] },
  ])("with $command $args", (entry) => {
    expect(isOurs(entry)).toBeTrue();
  });

  test.each([
    { command: "npx", args: ["-y", "server-memory"] },
    { command: "uvx", args: ["mcp-server-sqlite", "--db-path", "/m.db"] },
    { command: "/opt/svc", args: ["serve"] },
    { command: "/opt/my-svc", args: ["mcp"] },
    { command: "other", args: ["mcp", "run", "--db-path", "/m.db"] },
    { url: "https://example.com/mcp" },
    "svc mcp",
    null,
  ])("and not with %j", (entry) => {
    expect(isOurs(entry)).toBeFalse();
  });
});

test.each([
  { args: ["mcp", "--db-path", "/a.pack"], pack: "/a.pack" },
  { args: ["main.ts", "mcp", "--tools", "core", "--db-path=/a b.pack"], pack: "/a b.pack" },
  { args: ["--db-path", "/not-mine", "mcp"], pack: undefined },
  { args: ["mcp", "--db-path"], pack: undefined },
  { args: ["mcp"], pack: undefined },
])("the pack of $args is $pack", ({ args, pack }) => {
  expect(packArgumentOf({ command: "svc", args, env: {} })).toBe(pack);
});

test("variables of a former connection go, those of the user stay", () => {
  const former = {
    command: "/old/svc",
    args: ["mcp"],
    env: { SVC_MCP_USER_ID: "bob", XDG_CONFIG_HOME: "/old", TZ: "UTC" },
  };
  const server: ServerCommand = { command: "/opt/svc", args: ["mcp"], env: {} };
  expect(toMembers(server, TYPED, former)).toEqual({
    type: "stdio",
    command: "/opt/svc",
    args: ["mcp"],
    env: { TZ: "UTC" },
  });
  const { env: _env, ...withoutEnv } = former;
  expect(toMembers(server, { language: "json", section: "servers" }, withoutEnv)).toEqual({
    command: "/opt/svc",
    args: ["mcp"],
    env: undefined,
  });
});
