import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { unzipSync } from "fflate";
import { TARGETS } from "../../scripts/build/targets.ts";
import { writeBundle } from "../../scripts/bundle/bundle.ts";

// Each test starts the program several times; its first start unpacks libraries.
setDefaultTimeout(120_000);

/** The built program; the checks build it before they run the tests. */
const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");
const ROOT = join(import.meta.dir, "../..");
const FACT = "The entry is kept under stone number 11";

let folder: string;
let home: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-connect-")));
  home = join(folder, "home");
  mkdirSync(home);
  expect(svc("init", "memory.pack")).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program as a person does who has a home folder and nothing else. */
function svc(...args: readonly string[]) {
  const child = Bun.spawnSync([EXECUTABLE, ...args], {
    cwd: folder,
    env: { HOME: home, PATH: process.env["PATH"] ?? "", SVC_KEY_STORE: "file" },
  });
  return { code: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

type Server = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
};

/** Speaks to a server as an assistant does that read this entry, whatever its working directory. */
async function session<T>(server: Server, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "scenario", version: "1.0.0" });
  const { command, args, env } = server;
  await client.connect(
    new StdioClientTransport({
      command,
      args: [...args],
      cwd: "/",
      // What is set here is passed on by no assistant; the home folder is the one of the tests.
      env: { ...env, HOME: home },
      stderr: "ignore",
    }),
  );
  return await use(client).finally(() => client.close());
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  expect(isError ?? false).toBeFalse();
  return JSON.stringify(content);
}

/** Each client: its file below the home folder, what stands there before, and how to find the entry in it. */
const CLIENTS = [
  { client: "claude-code", file: ".claude.json", before: '{"numStartups": 3}', path: "mcpServers" },
  {
    client: "claude-desktop",
    file: ".config/Claude/claude_desktop_config.json",
    before: "{}\n",
    path: "mcpServers",
  },
  { client: "cursor", file: ".cursor/mcp.json", before: undefined, path: "mcpServers" },
  {
    client: "vscode",
    file: ".config/Code/User/mcp.json",
    before: '{\n\t"servers": {},\n\t"inputs": []\n}',
    path: "servers",
  },
  {
    client: "codex",
    file: ".codex/config.toml",
    before: 'model = "x" # mine\r\n',
    path: "mcp_servers",
  },
  {
    client: "gemini",
    file: ".gemini/settings.json",
    before: '{\n  "ui": {} // mine\n}\n',
    path: "mcpServers",
  },
  {
    client: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    before: '{"mcpServers":{"a":{"url":"u"}}}',
    path: "mcpServers",
  },
  {
    client: "zed",
    file: ".config/zed/settings.json",
    before: "// settings\n{\n  // mine\n}\n",
    path: "context_servers",
  },
] as const;

describe("a new pack", () => {
  test("comes with what to paste, and with the program's path while svc alone starts nothing", () => {
    const { stdout } = svc("init", "memory.pack");
    const server = [EXECUTABLE, "mcp", "--db-path", join(folder, "memory.pack")].join(" ");
    expect(stdout).toContain(`claude mcp add --scope user memory -- ${server}`);
    expect(stdout).toEndWith(
      `svc is not on your PATH: put it there, or type instead:\n  ${EXECUTABLE}\n`,
    );
    const bin = join(folder, "bin");
    mkdirSync(bin);
    symlinkSync(EXECUTABLE, join(bin, "svc"));
    const child = Bun.spawnSync([EXECUTABLE, "init", "memory.pack"], {
      cwd: folder,
      env: { HOME: home, PATH: bin, SVC_KEY_STORE: "file" },
    });
    // The link stays when a new version is put behind it.
    expect(child.stdout.toString()).toContain(`memory -- ${join(bin, "svc")} mcp`);
    expect(child.stdout.toString()).toContain(`"command": "${join(bin, "svc")}"`);
    expect(child.stdout.toString()).not.toContain("PATH");
  });

  test("whose key lies elsewhere comes with the variable that says where", () => {
    const settings = join(folder, "settings of mine");
    const child = Bun.spawnSync([EXECUTABLE, "init", "elsewhere.pack"], {
      cwd: folder,
      env: { HOME: home, PATH: "", SVC_KEY_STORE: "file", XDG_CONFIG_HOME: settings },
    });
    const stdout = child.stdout.toString();
    expect(stdout).toContain(`--env 'XDG_CONFIG_HOME=${settings}' --scope user memory -- `);
    const json = JSON.parse(stdout.slice(stdout.indexOf("{"), stdout.lastIndexOf("}") + 1));
    expect(json.mcpServers.memory.env).toEqual({ XDG_CONFIG_HOME: settings });
  });
});

test("every client is connected, gets an answer, finds what another one stored, and is let go again", async () => {
  for (const { client, file, before, path } of CLIENTS) {
    const config = join(home, file);
    mkdirSync(dirname(config), { recursive: true });
    if (before !== undefined) writeFileSync(config, before);
    const made = svc("connect", client, "--db-path", "memory.pack", "--yes", "--format", "json");
    expect({ client, code: made.code, stderr: made.stderr }).toEqual({
      client,
      code: 0,
      stderr: "",
    });
    expect(JSON.parse(made.stdout)).toMatchObject({ file: config, round_trip: { ok: true } });
    const text = readFileSync(config, "utf8");
    const root = file.endsWith(".toml")
      ? Bun.TOML.parse(text)
      : JSON.parse(text.replace(/^\s*\/\/.*$|\/\/ mine$/gm, ""));
    // SAFETY: what was found is compared with what is expected right below.
    const server = (root as Record<string, Record<string, Server>>)[path]!["memory"]!;
    expect(server.command).toBe(EXECUTABLE);
    expect(server.args).toEqual([
      "mcp",
      "--db-path",
      join(folder, "memory.pack"),
      "--no-create",
      "--tools",
      "core",
    ]);
    const found = await session(server, async (one) => {
      if (client === CLIENTS[0].client) {
        await call(one, "memory_store", { content: FACT, user_id: "ada" });
        return await call(one, "memory_retrieve", { query: "which stone?", user_id: "ada" });
      }
      return await call(one, "memory_scan_nodes", { user_id: "ada" });
    });
    expect(found).toContain(FACT);
  }
  const { checks } = JSON.parse(svc("doctor", "memory.pack", "--format", "json").stdout);
  const told = Object.fromEntries(checks.map((check: { name: string }) => [check.name, check]));
  expect(told["assistant"]).toMatchObject({ status: "ok" });
  expect(told["connected"].message.match(/[a-z-]+ \(/g)).toEqual(
    CLIENTS.map(({ client }) => `${client} (`),
  );
  for (const { client, file, before } of CLIENTS) {
    const config = join(home, file);
    expect(svc("disconnect", client, "--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(config) ? readFileSync(config, "utf8") : undefined).toBe(before);
  }
});

describe("the bundle", () => {
  test("is unpacked, started by its manifest, and offers the tools that it names", async () => {
    const target = TARGETS.find((one) => one === `${process.platform}-${process.arch}`)!;
    const place = join(folder, "bundle");
    mkdirSync(join(place, "server"), { recursive: true });
    const bundle = await writeBundle({
      root: ROOT,
      target,
      executable: EXECUTABLE,
      folder,
      // Compressing takes longer than all the rest, and another test does it.
      level: 0,
    });
    expect(bundle.name).toBe(`svc-${target}.mcpb`);
    for (const [name, bytes] of Object.entries(unzipSync(readFileSync(bundle.path)))) {
      writeFileSync(join(place, name), bytes);
    }
    chmodSync(join(place, "server/svc"), 0o755);
    const manifest = JSON.parse(readFileSync(join(place, "manifest.json"), "utf8"));
    const pack = join(folder, "from-bundle.pack");
    const fill = (text: string): string =>
      text.replace("\u0024{__dirname}", place).replace("\u0024{user_config.pack}", pack);
    const { command, args, env } = manifest.server.mcp_config;
    expect(join(place, manifest.server.entry_point)).toBe(fill(command));
    await session({ command: fill(command), args: args.map(fill), env }, async (client) => {
      expect(client.getServerVersion()).toMatchObject({ name: "svc", version: manifest.version });
      const { tools } = await client.listTools();
      const names = manifest.tools.map(({ name }: { name: string }) => name);
      expect(tools.map(({ name }) => name)).toEqual(names);
      await call(client, "memory_scan_nodes", { user_id: "ada" });
    });
    expect(existsSync(pack)).toBeTrue();
  });
});
