import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { outcomesOf } from "./many-commands.ts";
import { describeOnTerminal, onTerminal } from "./on-terminal.ts";
import { createDesk, type Desk, type Outcome } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

const RAW = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
const SETTINGS = '{\n  // mine\n  "theme": "dark",\n}\n';

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
  expect((await desk.run(["init", "plain.pack", "--plain"])).code).toBe(0);
  expect((await desk.run(["init", "sealed.pack"])).code).toBe(0);
});
afterAll(() => desk.remove());
beforeEach(() => {
  rmSync(at("home"), { recursive: true, force: true });
  mkdirSync(at("home"));
});

const at = (...path: string[]): string => join(desk.folder, ...path);

async function run(line: string, env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return await desk.run(line.split(" "), { env: { HOME: at("home"), ...env } });
}

/** The files below the home folder, without what the runtime of a program from source keeps there. */
function inHome(): readonly string[] {
  return readdirSync(at("home"), { recursive: true, encoding: "utf8" })
    .filter((name) => !/^\.(bun|cache)(\/|$)/.test(name))
    .filter((name) => statSync(at("home", name)).isFile());
}

describe("svc connect", () => {
  test.each([
    { name: "named", line: "--db-path postgres://u:hunter2@127.0.0.1:1/m", env: {} },
    { name: "set", line: "", env: { SVC_DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/m" } },
  ])("refuses a database that is $name, and changes nothing", async ({ line, env }) => {
    for (const how of ["--yes", "--print", "--dry-run"]) {
      const { code, stdout, stderr } = await run(`connect cursor ${how} ${line}`.trim(), env);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("postgres://127.0.0.1:1/m: is a database");
      expect(stderr).not.toContain("hunter2");
    }
    expect(inHome()).toEqual([]);
  });

  test("shows the change with --dry-run, and changes nothing", async () => {
    writeFileSync(at("home/.claude.json"), SETTINGS);
    const { code, stdout, stderr } = await run(
      "connect claude-code --db-path plain.pack --dry-run",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`+++ ${at("home/.claude.json")}`);
    expect(stdout).toContain('+  "mcpServers": {');
    expect(stdout).toContain(`"${at("plain.pack")}"`);
    expect(stdout).not.toContain("theme");
    expect(inHome()).toEqual([".claude.json"]);
    expect(readFileSync(at("home/.claude.json"), "utf8")).toBe(SETTINGS);
  });

  test("is refused without --yes where there is nobody to ask", async () => {
    const { code, stderr } = await run("connect cursor --db-path plain.pack");
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(inHome()).toEqual([]);
  });

  describeOnTerminal("at a terminal", () => {
    const line = ["connect", "cursor", "--db-path", "plain.pack"];
    const question = "Connect Cursor? [Y/n]";
    const noHooks = ["Remember without being asked? [Y/n]", "n\r"] as const;

    test("asks, and only yes changes anything", async () => {
      const env = { HOME: at("home") };
      const quick = [...line, "--no-verify"];
      const no = await onTerminal(desk.folder, quick, [[question, "n\r"]], env);
      expect(no).toMatchObject({ code: 0 });
      expect(no.screen).toContain("Nothing was changed.");
      expect(inHome()).toEqual([]);
      const yes = await onTerminal(desk.folder, quick, [[question, "\r"], noHooks], env);
      expect(yes).toMatchObject({ code: 0 });
      expect(inHome()).toEqual([".cursor/mcp.json"]);
    });

    test("ends where the terminal reports no columns, and draws nothing that moves", async () => {
      const env = { HOME: at("home") };
      const { code, screen } = await onTerminal(
        desk.folder,
        line,
        [[question, "\r"], noHooks],
        env,
        0,
      );
      expect(code).toBe(0);
      expect(screen.length).toBeLessThan(4_000);
    });
  });

  test("connects an encrypted pack without its key, tries it out, and is taken back to the last byte", async () => {
    const file = at("home/.claude.json");
    writeFileSync(file, SETTINGS);
    const line = "connect claude-code --db-path sealed.pack --user-id ada --yes --format json";
    const made = await run(line);
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: "" });
    const answer = JSON.parse(made.stdout);
    expect(answer).toMatchObject({
      client: "claude-code",
      scope: "user",
      name: "memory",
      file,
      status: "connected",
      concerns: [],
      undo: "svc disconnect claude-code",
    });
    expect(answer.round_trip).toMatchObject({ ok: true, problem: null });
    expect(answer.round_trip.ms).toBeGreaterThanOrEqual(answer.round_trip.start_ms);
    expect(answer.round_trip.tools).toBeGreaterThan(0);
    expect(readFileSync(answer.backup, "utf8")).toBe(SETTINGS);
    const text = readFileSync(file, "utf8");
    expect(text).toContain("// mine");
    expect(text).not.toContain("raw_key");
    // Where the key lies is said by a variable that assistants do not pass on.
    expect(answer.server.env).toEqual({ SVC_MCP_USER_ID: "ada", XDG_CONFIG_HOME: at(".config") });

    const again = await run(line);
    expect(JSON.parse(again.stdout)).toMatchObject({ status: "unchanged", backup: null, diff: [] });
    expect(readFileSync(file, "utf8")).toBe(text);

    const undone = await run("disconnect claude-code --yes");
    expect({ code: undone.code, stderr: undone.stderr }).toEqual({ code: 0, stderr: "" });
    expect(undone.stdout).toContain("is what it was before");
    expect(readFileSync(file, "utf8")).toBe(SETTINGS);
    expect(inHome()).toEqual([".claude.json"]);
    const idle = await run("disconnect claude-code");
    expect(idle.code).toBe(0);
    expect(idle.stdout).toContain("not connected");
  });

  test("says what is wrong when the key stands only in the environment, and how to go back", async () => {
    const key = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: RAW };
    await run("init keyless.pack", key);
    const { code, stdout, stderr } = await run("connect codex --db-path keyless.pack --yes", key);
    expect(code).toBe(1);
    expect(stderr).toContain("is only in the settings of this shell");
    expect(stderr).toContain(`svc key import ${at("keyless.pack")}`);
    expect(stderr).toMatch(/Error: the server was started .* failed after \d+ ms: .*keyless\.pack/);
    expect(stderr).toContain("to undo it, run: svc disconnect codex");
    expect(`${stdout}${stderr}`).not.toContain(RAW);
    expect(readFileSync(at("home/.codex/config.toml"), "utf8")).not.toContain("raw_key");
  });

  test("tells of settings that assistants do not see, and of a pack that is to be made", async () => {
    const env = { SVC_DEFAULT_TOKEN_BUDGET: "2000", SVC_ENCRYPTION_KEY: RAW };
    const { code, stdout, stderr } = await run("connect foo --print --db-path new.pack", env);
    expect(code).toBe(0);
    expect(stderr).toContain("SVC_DEFAULT_TOKEN_BUDGET");
    expect(stderr).toContain(`make it with: svc init ${at("new.pack")}`);
    expect(stderr).not.toMatch(/2000|raw_key/);
    expect(JSON.parse(stdout).mcpServers.memory.args.slice(-5)).toEqual([
      "--db-path",
      at("new.pack"),
      "--no-create",
      ...["--tools", "core"],
    ]);
    expect(existsSync(at("new.pack"))).toBeFalse();
  });

  test("makes a pack that is missing, and so that no entry makes a second one where it is moved; doctor names those that do", async () => {
    const { code, stderr } = await run("connect codex --db-path moved.pack --yes");
    expect({ code, isMade: existsSync(at("moved.pack")) }).toEqual({ code: 0, isMade: true });
    expect(stderr).toContain(`made ${at("moved.pack")}, encrypted`);
    const file = at("home/.codex/config.toml");
    const entry = readFileSync(file, "utf8");
    expect(entry).toContain('"--no-create"');
    writeFileSync(file, entry.replace(/, "--no-create"/, ""));
    const found = (): Promise<{ stdout: string }> => run("doctor moved.pack");
    const again = `svc connect codex --db-path ${at("moved.pack")}`;
    expect((await found()).stdout).toContain(again);
    await run("connect codex --db-path moved.pack --yes --no-verify");
    expect(readFileSync(file, "utf8")).toBe(entry);
    expect((await found()).stdout).not.toContain(again);
    await run("disconnect codex --yes");
  });
  test("takes the folder of a directory pack from the settings, also one without a pack yet", async () => {
    mkdirSync(at("folder"));
    const env = { SVC_PACK_PATH: "./folder" };
    const { stdout } = await run("connect foo --print", env);
    expect(JSON.parse(stdout).mcpServers.memory.args).toContain(at("folder"));
  });

  test.each([
    { client: "vscode", path: ["servers", "notes", "type"], value: "stdio" },
    { client: "zed", path: ["context_servers", "notes", "env", "SVC_MCP_USER_ID"], value: "ada" },
    { client: "any-other", path: ["mcpServers", "notes", "env", "SVC_MCP_USER_ID"], value: "ada" },
  ])("prints what $client reads, and changes nothing", async ({ client, path, value }) => {
    const { code, stdout } = await run(
      `connect ${client} --print --name notes --user-id ada --tools full --db-path plain.pack`,
    );
    expect(code).toBe(0);
    let found: unknown = JSON.parse(stdout);
    for (const key of path) found = Object(found)[key];
    expect(found).toBe(value);
    expect(stdout).toMatch(/"--tools",\s+"full"/);
    expect(inHome()).toEqual([]);
  });

  test("says whom a printed configuration is for when the name is nearly that of a client", async () => {
    const { stderr } = await run("connect VSCode --print --db-path plain.pack");
    expect(stderr).toContain("VSCode is not known; most assistants read this");
    expect(stderr).toContain("Did you mean vscode?");
    expect((await run("connect vscode --print --db-path plain.pack")).stderr).toBe("");
  });
  test("warns of a path that assistants may not read as it is written", async () => {
    const { stderr } = await run("connect cursor --db-path a$b.pack --dry-run");
    expect(stderr).toContain(`${at("a$b.pack")} has a $`);
    expect(stderr).toContain(`svc init '${at("a$b.pack")}'`);
  });

  test("binds the connection to the owner of the settings, unless another one is named", async () => {
    const env = { SVC_MCP_USER_ID: "ada" };
    const owner = async (line: string): Promise<unknown> => {
      const { stdout } = await run(`connect zed --print --db-path plain.pack${line}`, env);
      return JSON.parse(stdout).context_servers.memory.env;
    };
    expect(await owner("")).toEqual({ SVC_MCP_USER_ID: "ada" });
    expect(await owner(" --user-id bob")).toEqual({ SVC_MCP_USER_ID: "bob" });
  });
  test("writes the configuration of a project into the working directory", async () => {
    const made = await run("connect vscode --scope project --db-path plain.pack --yes --no-verify");
    expect(made.stderr).toBe("");
    expect(made.stdout).toContain("svc disconnect vscode --scope project");
    expect(JSON.parse(readFileSync(at(".vscode/mcp.json"), "utf8")).servers.memory).toMatchObject({
      type: "stdio",
    });
    expect((await run("disconnect vscode --scope project --yes")).stdout).toContain(
      "has been removed",
    );
    expect(existsSync(at(".vscode"))).toBeFalse();
  });
});

describe("svc connect --url", () => {
  const key = "a long random key of ada";
  let server: ReturnType<Desk["start"]>;
  let url = "";
  beforeAll(async () => {
    server = desk.start(["serve", "--db-path", "sealed.pack", "--port", "0", "--mcp"], {
      SVC_API_USER_KEYS: JSON.stringify({ ada: key }),
    });
    url = await addressOf(server);
  }, 120_000);
  afterAll(async () => {
    server.kill();
    await server.exited;
  });

  test("tries a server over HTTP with the key of a variable, which is written nowhere", async () => {
    const line = `connect codex --url ${url} --key-env SVC_KEY --yes --format json`;
    const made = await run(line, { SVC_KEY: key, HTTP_PROXY: "http://127.0.0.1:1" });
    expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
    const answer = JSON.parse(made.stdout);
    expect(answer).toMatchObject({
      status: "connected",
      server: { url: `${url}/mcp`, key_env: "SVC_KEY" },
      concerns: [],
      round_trip: { ok: true, problem: null },
      undo: "svc disconnect codex",
      capture: null,
    });
    expect(answer.round_trip.tools).toBeGreaterThan(0);
    const text = readFileSync(at("home/.codex/config.toml"), "utf8");
    expect(text).toContain('bearer_token_env_var = "SVC_KEY"');
    expect(`${text}${made.stdout}${made.stderr}`).not.toContain(key);
    expect((await run("doctor plain.pack")).stdout).toContain(`codex uses ${url}/mcp (`);
    expect((await run("disconnect codex --yes")).code).toBe(0);
    expect(existsSync(at("home/.codex"))).toBeFalse();
  });

  test("says which variable has a key that the server does not accept, or none", async () => {
    const line = `connect cursor --url ${url}/mcp --key-env SVC_KEY --yes`;
    const wrong = await run(line, { SVC_KEY: "of-somebody-else" });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain(`${url}/mcp does not accept the key in SVC_KEY (401)`);
    expect(`${wrong.stdout}${wrong.stderr}`).not.toContain("of-somebody-else");
    const unset = await run(line);
    expect(unset.code).toBe(0);
    expect(unset.stderr).toContain("SVC_KEY is not set here");
  });
});

/** The address that a server says when it listens. Its words are read to the end, so that it can go on speaking. */
function addressOf({ stderr }: ReturnType<Desk["start"]>): Promise<string> {
  const address = Promise.withResolvers<string>();
  const listen = async (): Promise<void> => {
    let said = "";
    for await (const chunk of stderr) {
      said += Buffer.from(chunk).toString("utf8");
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (found !== undefined) address.resolve(found);
    }
    address.reject(new Error(`the server ended: ${said}`));
  };
  listen().catch(address.reject);
  return address.promise;
}

describe("svc connect and disconnect refuse, and change nothing", () => {
  const rows = [
    { line: "connect emacs --yes", says: "claude-code, claude-desktop, cursor, vscode, codex" },
    { line: "disconnect emacs --yes", says: "svc connect emacs --print" },
    { line: "connect cursor --name a.b --yes", says: "ASCII letters" },
    { line: "connect claude-desktop --scope project --yes", says: "no configuration of projects" },
    { line: "connect cursor --url https://a.example/mcp --yes", says: "--key-env: is missing" },
    { line: "connect cursor --url http://a.example --key-env K --yes", says: "use https" },
    { line: "connect cursor --url https://u:p@a.example --key-env K", says: "host, port and path" },
    {
      line: "connect cursor --url https://a.example/?k=1 --key-env K",
      says: "host, port and path",
    },
    {
      line: "connect cursor --url https://a.example --key-env aKey",
      says: "no name of a variable",
    },
    { line: "connect cursor --key-env K --yes", says: "needs --url" },
    {
      line: "connect cursor --url https://a.example --key-env K --db-path m",
      says: "cannot be used",
    },
    { line: "connect cursor --url https://a.example --key-env K --capture", says: "needs a pack" },
    {
      line: "connect claude-desktop --url https://a.example --key-env K",
      says: "No key is written",
    },
    { line: "connect", says: "client: is missing; choose one of claude-code, claude-desktop" },
    { line: "connect claude --yes", says: "did you mean claude-code or claude-desktop?" },
    { line: "disconnect vs-code --yes", says: "did you mean vscode?" },
    { line: "connect zed --db-path plain.pack --yes", says: "line 1, column 11" },
    { line: "disconnect zed --yes", says: "settings.json" },
  ];
  test("each by its reason", async () => {
    mkdirSync(at("home/.config/zed"), { recursive: true });
    writeFileSync(at("home/.config/zed/settings.json"), '{"theme": }');
    const env = { HOME: at("home"), XDG_CONFIG_HOME: at("home/.config") };
    const lines = rows.map(({ line }) => ({ args: line.split(" "), env }));
    const outcomes = await outcomesOf(desk.folder, lines);
    for (const [index, { line, says }] of rows.entries()) {
      expect({ line, ...outcomes[index] }).toMatchObject({
        ...{ line, code: 2, stdout: "", stderr: expect.stringContaining(says) },
      });
    }
    expect(inHome()).toEqual([".config/zed/settings.json"]);
  });
});

describe("svc doctor", () => {
  type Report = {
    readonly ok: boolean;
    readonly checks: readonly { name: string; status: string; message: string }[];
  };

  async function doctor(pack: string): Promise<Report> {
    return JSON.parse((await run(`doctor ${pack} --format json`)).stdout);
  }

  const check = ({ checks }: Report, name: string) => checks.find((one) => one.name === name);

  test("speaks to the server as an assistant does, names the assistants, and writes nothing", async () => {
    await run("connect gemini --db-path sealed.pack --yes --no-verify");
    const before = readdirSync(desk.folder);
    const bytes = readFileSync(at("sealed.pack"));
    const report = await doctor("sealed.pack");
    expect(report.ok).toBeTrue();
    expect(check(report, "assistant")).toMatchObject({ status: "ok" });
    expect(check(report, "assistant")?.message).toMatch(/^answered in \d+ ms$/);
    expect(check(report, "connected")).toMatchObject({
      status: "ok",
      message: `gemini (${at("home/.gemini/settings.json")})`,
    });
    expect(readFileSync(at("sealed.pack")).equals(bytes)).toBeTrue();
    expect(readdirSync(desk.folder)).toEqual(before);
  });

  test("warns of each assistant that starts a program which is gone, and says how to mend it", async () => {
    const entry = { command: "/nowhere/svc", args: ["mcp", "--db-path", at("plain.pack")] };
    for (const folder of [".cursor", ".gemini"]) mkdirSync(at("home", folder));
    writeFileSync(at("home/.cursor/mcp.json"), JSON.stringify({ mcpServers: { old: entry } }));
    const memory = { ...entry, command: "/etc/passwd" };
    writeFileSync(at("home/.gemini/settings.json"), JSON.stringify({ mcpServers: { memory } }));
    const report = await doctor("plain.pack");
    expect(report.ok).toBeTrue();
    expect(check(report, "connected")).toMatchObject({ status: "warn" });
    const mend = (client: string): string =>
      `run: svc connect ${client} --db-path ${at("plain.pack")}`;
    expect(check(report, "connected")?.message).toBe(
      `cursor starts /nowhere/svc, which is missing or no program; ${mend("cursor")} --name old; ` +
        `gemini starts /etc/passwd, which is missing or no program; ${mend("gemini")}`,
    );
  });

  test("says when assistants could not open what the person can", async () => {
    await run(`init own.pack --encryption-key ${RAW}`);
    const { code, stdout } = await run(`doctor own.pack --encryption-key ${RAW}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\[OK\] {3}assistant: not tried: the key .* not kept on this machine.*svc key import/,
    );
    expect(stdout).toMatch(/\[OK\] {3}connected: none of the known assistants/);
  });
});
