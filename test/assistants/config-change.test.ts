import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import {
  CLIENT_NAMES,
  type ClientName,
  type ConfigScope,
  findClient,
} from "../../src/assistants/catalogue.ts";
import {
  connectionsTo,
  entryText,
  planConnection,
  remoteConnections,
} from "../../src/assistants/config-change.ts";
import type { ServerCommand } from "../../src/assistants/server-entry.ts";
import { jsonTexts, tomlTexts, yamlTexts } from "./config-texts.ts";
import { entry, put, refusal, useHome } from "./home.ts";

const desk = useHome();
const { connect, disconnect, fileOf, other: OTHER, pack: PACK, server: SERVER, snapshot } = desk;

const PLACES = CLIENT_NAMES.flatMap((client) =>
  (findClient(client)?.project === undefined ? ["user"] : ["user", "project"]).map(
    (scope) => [client, scope as ConfigScope] as const,
  ),
);

/** The content of a client's file, read by another parser than the one that changes it. */
function parsed(client: ClientName, text: string): Readonly<Record<string, unknown>> {
  const readers = { json: JSON.parse, toml: Bun.TOML.parse, yaml: Bun.YAML.parse };
  return Object(readers[findClient(client)!.form.language](text));
}

describe.each(PLACES)("%s, %s", (client, scope) => {
  test("is connected in a form that its makers document, and found again", async () => {
    const place = entry(client, scope);
    await connect(place, { ...SERVER, env: { SVC_MCP_USER_ID: "ada" } });
    const text = readFileSync(fileOf(client, scope), "utf8");
    expect(text).toBe(
      await entryText(findClient(client)!, place.name, {
        ...SERVER,
        env: { SVC_MCP_USER_ID: "ada" },
      }),
    );
    const args = ["mcp", "--db-path", PACK];
    const env = { SVC_MCP_USER_ID: "ada" };
    const typed = ["claude-code", "vscode", "copilot-cli", "cline", "roo", "continue"];
    /** The entries of those who have a form of their own. */
    const own: Readonly<Partial<Record<ClientName, object>>> = {
      opencode: { type: "local", command: ["/opt/svc", ...args], environment: env },
      goose: {
        ...{ enabled: true, name: "memory", description: "Long-term memory", timeout: 300 },
        ...{ type: "stdio", cmd: "/opt/svc", args, envs: env },
      },
    };
    const common = { command: "/opt/svc", args, env };
    const memory = own[client] ?? (typed.includes(client) ? { type: "stdio", ...common } : common);
    expect(parsed(client, text)).toEqual({ [findClient(client)!.form.section]: { memory } });
    const found = await connectionsTo(PACK, desk.here);
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
    const plan = await planConnection(entry("cursor"), SERVER, false, desk.here);
    expect(plan.after).toBe(plan.before);
    expect(plan.apply()).toBeUndefined();
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
    const again = await planConnection(entry("cursor"), SERVER, false, desk.here);
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

  test("uses the file of the folder that is there, comments and all", async () => {
    const text = '{\n  // mine\n  "theme": "dark",\n}\n';
    const file = put(join(desk.here.home, ".config/opencode/opencode.jsonc"), text);
    await connect(entry("opencode"));
    expect(readFileSync(file, "utf8")).toStartWith('{\n  // mine\n  "theme": "dark"');
    expect(existsSync(fileOf("opencode"))).toBeFalse();
    await disconnect(entry("opencode"));
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("uses the file of the client that is there, when it has been renamed", async () => {
    const former = put(join(desk.here.home, ".codeium/windsurf/mcp_config.json"), "{}");
    await connect(entry("windsurf"));
    expect(readFileSync(former, "utf8")).toContain("/opt/svc");
    put(join(desk.here.home, ".config/devin/other.json"), "{}");
    await connect(entry("windsurf"));
    expect(readFileSync(fileOf("windsurf"), "utf8")).toContain("/opt/svc");
    await disconnect(entry("windsurf"));
    await disconnect(entry("windsurf"));
    expect(readFileSync(former, "utf8")).toBe("{}");
    expect(existsSync(fileOf("windsurf"))).toBeFalse();
  });

  test("keeps permissions, follows links, and copies for this user alone", async () => {
    const real = put(join(desk.here.home, "dotfiles/claude.json"), '{"a": 1}\n');
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
      says: "is a link to",
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
    const plan = await planConnection(entry("claude-code"), SERVER, false, desk.here);
    writeFileSync(file, '{"startups": 2}');
    expect(() => plan.apply()).toThrow("changed by another program");
    expect(readFileSync(file, "utf8")).toBe('{"startups": 2}');
    expect(readdirSync(desk.here.home).sort()).toEqual([".claude.json", ".config", "project"]);
  });

  test("has no project of Claude Desktop", async () => {
    expect(await refusal(connect(entry("claude-desktop", "project")))).toContain("--scope");
  });
});

describe("a server over HTTP", () => {
  const TEAM = { url: "https://memory.example/mcp", keyEnv: "SVC_KEY" };
  const MARK = { "X-Written-By": "svc connect" };
  const bearer = (reference: string) => ({
    headers: { ...MARK, Authorization: `Bearer ${reference}` },
  });
  /** What the makers of each client document. */
  const ENTRIES: Readonly<Partial<Record<ClientName, object>>> = {
    "claude-code": { type: "http", url: TEAM.url, ...bearer(`\${SVC_KEY}`) },
    cursor: { url: TEAM.url, ...bearer(`\${env:SVC_KEY}`) },
    vscode: { type: "http", url: TEAM.url, ...bearer(`\${env:SVC_KEY}`) },
    codex: { url: TEAM.url, bearer_token_env_var: "SVC_KEY", http_headers: MARK },
    gemini: { httpUrl: TEAM.url, ...bearer(`\${SVC_KEY}`) },
    windsurf: { serverUrl: TEAM.url, ...bearer(`\${env:SVC_KEY}`) },
    kiro: { url: TEAM.url, ...bearer(`\${SVC_KEY}`) },
    "copilot-cli": { type: "http", url: TEAM.url, ...bearer(`\${SVC_KEY}`) },
    opencode: { type: "remote", url: TEAM.url, ...bearer("{env:SVC_KEY}") },
    cline: { type: "streamableHttp", url: TEAM.url, ...bearer(`\${env:SVC_KEY}`) },
    roo: { type: "streamable-http", url: TEAM.url, ...bearer(`\${env:SVC_KEY}`) },
    goose: {
      ...{ enabled: true, name: "memory", description: "Long-term memory", timeout: 300 },
      ...{ type: "streamable_http", uri: TEAM.url, env_keys: ["SVC_KEY"] },
      ...bearer(`\${SVC_KEY}`),
    },
    amp: { url: TEAM.url, ...bearer(`\${SVC_KEY}`) },
  };

  test.each([...CLIENT_NAMES].filter((name) => name in ENTRIES))(
    "is written for %s with a reference to the key, found, exchanged for a pack, and taken back",
    async (client) => {
      const before = snapshot();
      const read = (): unknown => {
        const text = readFileSync(fileOf(client), "utf8");
        return Object(parsed(client, text)[findClient(client)!.form.section]).memory;
      };
      await connect(entry(client), TEAM);
      expect(read()).toEqual(ENTRIES[client]);
      const plan = await planConnection(entry(client), TEAM, false, desk.here);
      expect(plan.after).toBe(plan.before);
      expect(await remoteConnections(desk.here)).toEqual([
        { client, scope: "user", file: fileOf(client), name: "memory", url: TEAM.url },
      ]);
      await connect(entry(client), SERVER);
      expect(read()).not.toContainAnyKeys([
        "url",
        "httpUrl",
        "serverUrl",
        "uri",
        "headers",
        "http_headers",
      ]);
      expect(await remoteConnections(desk.here)).toEqual([]);
      expect(await connectionsTo(PACK, desk.here)).toMatchObject([{ client }]);
      await connect(entry(client), TEAM);
      expect(read()).toEqual(ENTRIES[client]);
      await disconnect(entry(client));
      expect(snapshot()).toEqual(before);
    },
  );

  test.each([...CLIENT_NAMES].filter((name) => !(name in ENTRIES)))(
    "is refused for %s, which would need the key in its file",
    async (client) => {
      const before = snapshot();
      expect(await refusal(connect(entry(client), TEAM))).toContain("No key is written");
      expect(snapshot()).toEqual(before);
    },
  );

  test("that the user wrote or added to stays the user's", async () => {
    const theirs = { url: "https://other.example/mcp", headers: { Authorization: "Bearer x" } };
    const file = put(fileOf("cursor"), JSON.stringify({ mcpServers: { memory: theirs } }));
    expect(await refusal(connect(entry("cursor"), TEAM))).toContain("--force");
    expect(await refusal(disconnect(entry("cursor")))).toContain("not of svc");
    const ours = { url: "https://old.example/mcp", headers: { ...MARK, "X-Team": "red" }, note: 1 };
    writeFileSync(file, JSON.stringify({ mcpServers: { memory: ours } }));
    await connect(entry("cursor"), TEAM);
    expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.memory).toMatchObject({
      url: TEAM.url,
      headers: { "X-Team": "red" },
      note: 1,
    });
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
    desk.renew();
    const file = put(fileOf(client), text);
    await connect(entry(client), server);
    expect((await connectionsTo(server.args[2] ?? "", desk.here)).map((one) => one.client)).toEqual(
      [client],
    );
    await disconnect(entry(client));
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("svc-backup"))).toEqual([]);
    rmSync(desk.here.home, { recursive: true });
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
      { numRuns: 60 },
    );
  }, 120_000);

  test("TOML", async () => {
    await fc.assert(
      fc.asyncProperty(tomlTexts(), servers, (text, server) => expectSame("codex", text, server)),
      { numRuns: 40 },
    );
  }, 120_000);

  test("YAML", async () => {
    await fc.assert(
      fc.asyncProperty(yamlTexts(), servers, (text, server) => expectSame("goose", text, server)),
      { numRuns: 40 },
    );
  }, 120_000);
});

describe("which assistants use a pack", () => {
  test("is told of every name and every form of the path, and never fails", async () => {
    put(fileOf("claude-code"), "no JSON at all");
    put(
      fileOf("vscode"),
      '{"servers": {"mine": {"command": "svc", "args": ["mcp", "--db-path=./x"]}}}',
    );
    const link = join(desk.here.home, "link.pack");
    writeFileSync(PACK, "");
    symlinkSync(PACK, link);
    await connect(entry("cursor", "user", "notes"), {
      ...SERVER,
      args: ["mcp", "--db-path", link],
    });
    await connect(entry("codex"), { ...SERVER, args: ["mcp", `--db-path=${PACK}`] });
    await connect(entry("zed"), OTHER);
    const found = await connectionsTo(PACK, desk.here);
    expect(found.map(({ client, name }) => `${client} ${name}`)).toEqual([
      "cursor notes",
      "codex memory",
    ]);
  });
});
