import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import {
  CLIENT_NAMES,
  type ClientName,
  findClient,
  placesOf,
  type Scope,
} from "../../../src/app/clients/catalogue.ts";
import {
  applyChange,
  type EntryPlace,
  entryText,
  planConnection,
  planDisconnection,
} from "../../../src/app/clients/changes.ts";
import { connectionsTo } from "../../../src/app/clients/connections.ts";
import type { ServerCommand } from "../../../src/app/clients/server-entry.ts";
import type { Surroundings } from "../../../src/app/clients/surroundings.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { jsonTexts, tomlTexts } from "./config-texts.ts";

const ROOT = realpathSync(mkdtempSync(join(tmpdir(), "svc-clients-")));
afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

const PACK = join(ROOT, "memory.pack");
const SERVER: ServerCommand = { command: "/opt/svc", args: ["mcp", "--db-path", PACK], env: {} };
const OTHER: ServerCommand = { ...SERVER, args: ["mcp", "--db-path", join(ROOT, "other.pack")] };

let count = 0;
let here: Surroundings;
beforeEach(() => {
  here = freshSurroundings();
});

/** A home folder and a project of their own. */
function freshSurroundings(): Surroundings {
  count += 1;
  const home = join(ROOT, `home-${count}`);
  const folder = join(home, "project");
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(home, ".config"));
  return { platform: "linux", environment: {}, home, folder };
}

function entry(client: ClientName, scope: Scope = "user", name = "memory"): EntryPlace {
  return { client: findClient(client)!, scope, name };
}

function fileOf(client: ClientName, scope: Scope = "user"): string {
  return placesOf(findClient(client)!, scope, here)[0]!.file;
}

/** Writes a client's file, with its folder. */
function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function connect(
  place: EntryPlace,
  server = SERVER,
  force = false,
): Promise<string | undefined> {
  return applyChange(await planConnection(place, server, force, here));
}

async function disconnect(place: EntryPlace): Promise<string | undefined> {
  return applyChange(await planDisconnection(place, here));
}

/** All files below the home folder with their content. */
function snapshot(): Readonly<Record<string, string>> {
  const names = readdirSync(here.home, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = join(here.home, name);
      return [name, statSync(path).isDirectory() ? "folder" : readFileSync(path, "utf8")];
    }),
  );
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe("invalid_argument");
  return error.message;
}

const PLACES = CLIENT_NAMES.flatMap((client) =>
  (client === "claude-desktop" ? ["user"] : ["user", "project"]).map(
    (scope) => [client, scope as Scope] as const,
  ),
);

describe.each(PLACES)("%s, %s", (client, scope) => {
  test("is connected in a form that its makers document, and found again", async () => {
    const place = entry(client, scope);
    await connect(place, { ...SERVER, env: { SVC_MCP_USER_ID: "ada" } });
    const text = readFileSync(fileOf(client, scope), "utf8");
    expect(text).toBe(await entryText(place, { ...SERVER, env: { SVC_MCP_USER_ID: "ada" } }));
    const { language, section } = place.client.form;
    const root = language === "json" ? JSON.parse(text) : Bun.TOML.parse(text);
    expect(root).toEqual({
      [section]: {
        memory: {
          ...(["claude-code", "vscode"].includes(client) && { type: "stdio" }),
          command: "/opt/svc",
          args: ["mcp", "--db-path", PACK],
          env: { SVC_MCP_USER_ID: "ada" },
        },
      },
    });
    const found = await connectionsTo(PACK, here);
    expect(found).toMatchObject([{ client, scope, name: "memory", file: fileOf(client, scope) }]);
  });

  test("leaves nothing behind where it found nothing", async () => {
    const before = snapshot();
    await connect(entry(client, scope));
    expect(existsSync(fileOf(client, scope))).toBeTrue();
    await disconnect(entry(client, scope));
    expect(snapshot()).toEqual(before);
  });
});

describe("connecting", () => {
  test("changes nothing when it is repeated", async () => {
    await connect(entry("cursor"));
    const before = snapshot();
    const plan = await planConnection(entry("cursor"), SERVER, false, here);
    expect(plan.after).toBe(plan.before);
    expect(applyChange(plan)).toBeUndefined();
    expect(snapshot()).toEqual(before);
  });

  test("keeps what the client and its user have added to the entry", async () => {
    const file = put(
      fileOf("cursor"),
      JSON.stringify({
        mcpServers: {
          memory: {
            command: "/old/svc",
            args: ["mcp", "--db-path", "/old.pack"],
            env: { TZ: "UTC", SVC_MCP_USER_ID: "bob" },
            disabled: true,
          },
        },
      }),
    );
    await connect(entry("cursor"));
    expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.memory).toEqual({
      command: "/opt/svc",
      args: ["mcp", "--db-path", PACK],
      env: { TZ: "UTC" },
      disabled: true,
    });
    const again = await planConnection(entry("cursor"), SERVER, false, here);
    expect(again.after).toBe(again.before);
  });

  test.each([
    { name: "another program", value: { command: "npx", args: ["-y", "server-memory"] } },
    { name: "a server on the network", value: { url: "https://example.com/mcp" } },
  ])("refuses the name of $name, unless it is forced", async ({ value }) => {
    const text = `{"mcpServers": {"memory": ${JSON.stringify(value)}}}`;
    const file = put(fileOf("cursor"), text);
    expect(await refusal(connect(entry("cursor")))).toContain("--force");
    expect(readFileSync(file, "utf8")).toBe(text);
    await connect(entry("cursor"), SERVER, true);
    expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.memory).toEqual({
      command: "/opt/svc",
      args: ["mcp", "--db-path", PACK],
    });
    await disconnect(entry("cursor"));
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("uses the file of the client that is there, when it has been renamed", async () => {
    const former = put(join(here.home, ".codeium/windsurf/mcp_config.json"), "{}");
    await connect(entry("windsurf"));
    expect(readFileSync(former, "utf8")).toContain("/opt/svc");
    put(join(here.home, ".config/devin/other.json"), "{}");
    await connect(entry("windsurf"));
    expect(readFileSync(fileOf("windsurf"), "utf8")).toContain("/opt/svc");
    await disconnect(entry("windsurf"));
    await disconnect(entry("windsurf"));
    expect(readFileSync(former, "utf8")).toBe("{}");
    expect(existsSync(fileOf("windsurf"))).toBeFalse();
  });

  test("keeps permissions, follows links, and copies for this user alone", async () => {
    const real = put(join(here.home, "dotfiles/claude.json"), '{"a": 1}\n');
    chmodSync(real, 0o640);
    symlinkSync(real, fileOf("claude-code"));
    const copy = await connect(entry("claude-code"));
    expect(lstatSync(fileOf("claude-code")).isSymbolicLink()).toBeTrue();
    expect(readFileSync(real, "utf8")).toContain("/opt/svc");
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(copy).toStartWith(`${fileOf("claude-code")}.svc-backup-`);
    expect(statSync(copy!).mode & 0o777).toBe(0o600);
    expect(readFileSync(copy!, "utf8")).toBe('{"a": 1}\n');
    expect(readdirSync(dirname(real))).toEqual(["claude.json"]);
    await disconnect(entry("claude-code"));
    expect(readFileSync(real, "utf8")).toBe('{"a": 1}\n');
    expect(statSync(real).mode & 0o777).toBe(0o640);
  });

  test("makes a private file for a user, and one that others can read for a project", async () => {
    await connect(entry("cursor"));
    await connect(entry("cursor", "project"));
    expect(statSync(fileOf("cursor")).mode & 0o777).toBe(0o600);
    expect(statSync(fileOf("cursor", "project")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test.each([
    { name: "broken JSON", make: (file: string) => put(file, '{"a": 1,,}'), says: "line 1" },
    {
      name: "no text",
      make: (file: string) => {
        put(file, "");
        writeFileSync(file, new Uint8Array([0x7b, 0xff, 0x7d]));
      },
      says: "UTF-8",
    },
    {
      name: "a folder",
      make: (file: string) => mkdirSync(file, { recursive: true }),
      says: "is no file",
    },
    {
      name: "a link to nothing",
      make: (file: string) => {
        mkdirSync(dirname(file), { recursive: true });
        symlinkSync(join(dirname(file), "missing"), file);
      },
      says: "is no file",
    },
  ])("refuses $name and changes nothing", async ({ make, says }) => {
    const file = fileOf("cursor");
    make(file);
    const before = readdirSync(dirname(file));
    const message = await refusal(connect(entry("cursor")));
    expect(message).toContain(says);
    expect(message).toContain(file);
    expect(readdirSync(dirname(file))).toEqual(before);
  });

  test("does not undo what another program writes meanwhile", async () => {
    const file = put(fileOf("claude-code"), '{"startups": 1}');
    const plan = await planConnection(entry("claude-code"), SERVER, false, here);
    writeFileSync(file, '{"startups": 2}');
    expect(() => applyChange(plan)).toThrow("changed by another program");
    expect(readFileSync(file, "utf8")).toBe('{"startups": 2}');
    expect(readdirSync(here.home).sort()).toEqual([".claude.json", ".config", "project"]);
  });

  test("has no project of Claude Desktop", async () => {
    expect(await refusal(connect(entry("claude-desktop", "project")))).toContain("--scope");
  });
});

describe("disconnecting", () => {
  test("changes nothing where nothing is connected", async () => {
    put(fileOf("zed"), '{"theme": "x"} // mine');
    const before = snapshot();
    for (const client of CLIENT_NAMES) expect(await disconnect(entry(client))).toBeUndefined();
    expect(snapshot()).toEqual(before);
  });

  test("takes the entry alone when the file was changed since, and copies it first", async () => {
    const file = put(fileOf("zed"), '{\n  // mine\n  "theme": "x"\n}\n');
    await connect(entry("zed"));
    const changed = readFileSync(file, "utf8").replace('"theme": "x"', '"theme": "y", // new');
    writeFileSync(file, changed.replace(", // new,", ", // new"));
    const copy = await disconnect(entry("zed"));
    expect(readFileSync(file, "utf8")).toBe('{\n  // mine\n  "theme": "y" // new\n}\n');
    expect(readFileSync(copy!, "utf8")).toContain("/opt/svc");
  });

  test("leaves the member around it to others who have entries there", async () => {
    const file = put(fileOf("cursor"), "{}\n");
    await connect(entry("cursor"));
    await connect(entry("cursor", "user", "second"), OTHER);
    await disconnect(entry("cursor"));
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers)).toEqual(["second"]);
    await disconnect(entry("cursor", "user", "second"));
    expect(readFileSync(file, "utf8")).toBe("{}\n");
  });

  test("finds the first state behind several connections, and leaves no copy", async () => {
    const text = '{\n    "a": [1,2], /* kept */\n    "mcpServers": { }\n}';
    const file = put(fileOf("gemini"), text);
    await connect(entry("gemini"));
    await connect(entry("gemini"), OTHER);
    await connect(entry("gemini"), { ...SERVER, env: { SVC_MCP_USER_ID: "ada" } });
    expect(readdirSync(dirname(file))).toHaveLength(4);
    await disconnect(entry("gemini"));
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(["settings.json"]);
  });

  test("removes the copies of a file that it made itself", async () => {
    await connect(entry("codex"));
    await connect(entry("codex"), OTHER);
    await disconnect(entry("codex"));
    expect(existsSync(dirname(fileOf("codex")))).toBeFalse();
  });

  test("does not touch a server of another program", async () => {
    put(fileOf("cursor"), '{"mcpServers": {"memory": {"command": "npx"}}}');
    const before = snapshot();
    expect(await refusal(disconnect(entry("cursor")))).toContain("not of svc");
    expect(snapshot()).toEqual(before);
  });
});

describe("of any file, connecting and disconnecting leave the same bytes", () => {
  const servers = fc.record({
    command: fc.constantFrom("/opt/svc", "/Applications/My Apps/svc"),
    args: fc.constantFrom(["mcp", "--db-path", PACK], ["mcp", "--db-path", "/ä\"'\\/m.pack"]),
    env: fc.constantFrom({}, { SVC_MCP_USER_ID: "ada" }),
  });

  async function expectSame(
    client: ClientName,
    text: string,
    server: ServerCommand,
  ): Promise<void> {
    here = freshSurroundings();
    const file = put(fileOf(client), text);
    await connect(entry(client), server);
    expect((await connectionsTo(server.args[2] ?? "", here)).map((one) => one.client)).toEqual([
      client,
    ]);
    await disconnect(entry(client));
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("svc-backup"))).toEqual([]);
    rmSync(here.home, { recursive: true });
  }

  test("JSON", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          jsonTexts("context_servers"),
          fc.constantFrom("", " ", "\n", "{}", "{ }\n", "// x\n{\n}"),
        ),
        servers,
        (text, server) => expectSame("zed", text, server),
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  test("TOML", async () => {
    await fc.assert(
      fc.asyncProperty(tomlTexts(), servers, (text, server) => expectSame("codex", text, server)),
      { numRuns: 100 },
    );
  }, 60_000);
});

describe("which assistants use a pack", () => {
  test("is told of every name and every form of the path, and never fails", async () => {
    put(fileOf("claude-code"), "no JSON at all");
    put(
      fileOf("vscode"),
      '{"servers": {"mine": {"command": "svc", "args": ["mcp", "--db-path=./x"]}}}',
    );
    const link = join(here.home, "link.pack");
    writeFileSync(PACK, "");
    symlinkSync(PACK, link);
    await connect(entry("cursor", "user", "notes"), {
      ...SERVER,
      args: ["mcp", "--db-path", link],
    });
    await connect(entry("codex"), { ...SERVER, args: ["mcp", `--db-path=${PACK}`] });
    await connect(entry("zed"), OTHER);
    const found = await connectionsTo(PACK, here);
    expect(found.map(({ client, name }) => `${client} ${name}`)).toEqual([
      "cursor notes",
      "codex memory",
    ]);
  });
});
