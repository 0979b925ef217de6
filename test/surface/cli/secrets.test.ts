/** Neither a key nor a passphrase leaves the program, whatever goes wrong, and a pack that is not opened stays as it is. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { linkSecret } from "../../../src/adapters/keystore/link-secret.ts";
import { loadConfig, withEncryptionKey } from "../../../src/config/load.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { leftOut, NOT_LINUX } from "../../left-out.ts";
import { createWordDesk, type Desk, type Outcome } from "./run-svc.ts";

// Each test starts processes, and passphrases take their time.
setDefaultTimeout(120_000);

const RIGHT = Buffer.alloc(32, 0x5a).toString("base64url");
const WRONG = Buffer.alloc(32, 0x3c).toString("base64url");
const PASSPHRASE = "correct horse battery staple";
const SECRETS = [RIGHT, WRONG, PASSPHRASE];

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  // Made by the first server of a user, whatever pack it serves.
  linkSecret({ XDG_CONFIG_HOME: join(desk.folder, ".config") });
  for (const args of [
    ["locked.pack", "--encryption-key", `raw_key:${RIGHT}`],
    ["spoken.pack", "--encryption-key", PASSPHRASE],
    ["clear.pack", "--plain"],
    ["folder", "--encryption-key", `raw_key:${RIGHT}`],
  ]) {
    expect((await desk.run(["init", ...args])).code).toBe(0);
  }
});
afterAll(() => desk.remove());

/** Every file below the desk with its content. */
function snapshot(): Readonly<Record<string, string>> {
  const names = readdirSync(desk.folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, sha256Hex(readFileSync(path, "latin1"))]),
  );
}

function expectSilent(...texts: readonly string[]): void {
  for (const secret of SECRETS) {
    for (const text of texts) expect(text).not.toContain(secret);
  }
}

const withKey = (key: string): Record<string, string> => ({
  SVC_ENCRYPTION_ENABLED: "true",
  SVC_ENCRYPTION_KEY: key,
});

type Case = {
  readonly name: string;
  readonly pack: string;
  readonly env: Readonly<Record<string, string>>;
  readonly says: RegExp;
};

const CASES: readonly Case[] = [
  { name: "no key", pack: "locked.pack", env: {}, says: /is encrypted, and no key/ },
  { name: "no key for a folder", pack: "folder", env: {}, says: /is encrypted, and no key/ },
  {
    name: "a wrong raw key",
    pack: "locked.pack",
    env: withKey(`raw_key:${WRONG}`),
    says: /does not open it/,
  },
  {
    name: "a wrong raw key for a folder",
    pack: "folder",
    env: withKey(`raw_key:${WRONG}`),
    says: /does not open it/,
  },
  {
    name: "a raw key taken for a passphrase",
    pack: "locked.pack",
    env: withKey(`passphrase:${RIGHT}`),
    says: /does not open it/,
  },
  {
    name: "a wrong passphrase",
    pack: "locked.pack",
    env: withKey(PASSPHRASE),
    says: /does not open it/,
  },
  {
    name: "a malformed key",
    pack: "locked.pack",
    env: withKey(`raw_key:${RIGHT}${WRONG}`),
    says: /encryption_key: after raw_key/,
  },
  {
    name: "a key that is switched off",
    pack: "locked.pack",
    env: { SVC_ENCRYPTION_KEY: `raw_key:${RIGHT}` },
    says: /SVC_ENCRYPTION_ENABLED is not true/,
  },
  {
    name: "a key for an unencrypted pack",
    pack: "clear.pack",
    env: withKey(`raw_key:${RIGHT}`),
    says: /is not encrypted, and a key was given/,
  },
  {
    name: "encryption without a key for an unencrypted pack",
    pack: "clear.pack",
    env: { SVC_ENCRYPTION_ENABLED: "true" },
    says: /encryption_enabled/,
  },
];

/** Every way into a pack says the same; the first case and a wrong key go through all of them. */
const isTriedEverywhere = (name: string): boolean => ["no key", "a wrong raw key"].includes(name);

describe.each([...CASES])("with $name", ({ name, pack, env, says }) => {
  test.each([
    { command: "store", args: [pack, "a text"] },
    ...(isTriedEverywhere(name)
      ? [
          { command: "serve", args: ["--db-path", pack, "--port", "0"] },
          { command: "info", args: [pack] },
          { command: "search", args: [pack, "a text"] },
        ]
      : []),
  ])("$command is refused and changes nothing", async ({ command, args }) => {
    const before = snapshot();
    const { code, stdout, stderr } = await desk.run([command, ...args], { env });
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expectSilent(stderr);
    expect(snapshot()).toEqual(before);
  });

  if (!isTriedEverywhere(name)) return;

  test("doctor fails and changes nothing", async () => {
    const before = snapshot();
    const { code, stdout, stderr } = await desk.run(["doctor", pack], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(says);
    expectSilent(stdout, stderr);
    expect(snapshot()).toEqual(before);
  });

  test("mcp tells its client and standard error, and changes nothing", async () => {
    const before = snapshot();
    const { stdout, stderr } = await talk(pack, env);
    const answer = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(answer.result.isError).toBeTrue();
    expect(JSON.stringify(answer.result)).toMatch(says);
    expect(stderr).toMatch(says);
    expectSilent(stdout, stderr);
    expect(snapshot()).toEqual(before);
  });
});

/** One session of an assistant that stores a memory. */
async function talk(pack: string, env: Readonly<Record<string, string>>): Promise<Outcome> {
  const call = (id: number, method: string, params: object): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const greeting = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  const store = { name: "memory_store", arguments: { content: "tea", user_id: "anna" } };
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  return await desk.run(["mcp", "--db-path", pack], {
    env,
    stdin: `${call(1, "initialize", greeting)}${JSON.stringify(initialized)}\n${call(2, "tools/call", store)}`,
  });
}

describe("a key in the wrong place is not repeated", () => {
  test.each([
    { args: ["info", "locked.pack", `--encryption-keys=${RIGHT}`] },
    { args: ["info", "locked.pack", RIGHT] },
    { args: ["key", "import", "locked.pack", RIGHT] },
    { args: ["key", "import", "locked.pack", `--key=${RIGHT}`] },
    { args: ["init", "new.pack", PASSPHRASE] },
    { args: ["init", "new.pack", "--plain", "--encryption-key", RIGHT] },
    { args: ["init", "locked.pack", "--encryption-key", PASSPHRASE] },
    { args: ["key", "export", "locked.pack", "--encryption-key", WRONG] },
  ])("$args", async ({ args }) => {
    const before = snapshot();
    const { code, stdout, stderr } = await desk.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expectSilent(stderr);
    expect(snapshot()).toEqual(before);
  });

  test("not even when it is piped to an import that fails", async () => {
    const { stderr, stdout } = await desk.run(["key", "import", "locked.pack"], { stdin: WRONG });
    expect(stderr).toContain("does not open it");
    expectSilent(stderr, stdout);
  });
});

describe("an internal error", () => {
  test("shows no key, whatever it prints of the configuration", () => {
    const { config } = loadConfig({
      environment: withKey(`raw_key:${RIGHT}`),
      folder: desk.folder,
    });
    const copy = withEncryptionKey(config, PASSPHRASE);
    for (const shown of [config, copy]) {
      expectSilent(inspect(shown, { depth: 9 }), JSON.stringify(shown), String(shown));
      expectSilent(inspect({ deep: { shown } }, { depth: 9 }));
    }
  });

  test("ends a command with one line without the key", async () => {
    writeFileSync(join(desk.folder, "no-folder"), "");
    const outcome = await crash("caught");
    expect(outcome.code).not.toBe(0);
    expect(outcome.stderr).toContain("planted");
    expectSilent(outcome.stdout, outcome.stderr);
  });

  test("that nobody catches shows no key either", async () => {
    const outcome = await crash("uncaught");
    expect(outcome.code).not.toBe(0);
    expect(outcome.stderr).toContain("planted");
    expectSilent(outcome.stdout, outcome.stderr);
  });
});

/** Runs a command whose inner parts fail with an error that carries the configuration. */
async function crash(kind: "caught" | "uncaught"): Promise<Outcome> {
  const source = join(import.meta.dir, "../../../src");
  const program = join(desk.folder, "crash.ts");
  writeFileSync(
    program,
    `import { runCli } from ${JSON.stringify(join(source, "surface/cli/program.ts"))};
     const fail = (config) => { throw Object.assign(new Error("planted " + JSON.stringify(config)), { config }); };
     const serving = {
       http: async ({ config }) => {
         if (${JSON.stringify(kind)} === "caught") fail(config);
         setTimeout(() => fail(config), 1);
         await Bun.sleep(1000);
       },
     };
     process.exitCode = await runCli(["serve", "--db-path", "locked.pack"], serving);`,
  );
  const child = Bun.spawn([process.execPath, "--no-env-file", program], {
    cwd: desk.folder,
    env: { PATH: process.env["PATH"] ?? "", ...withKey(`raw_key:${RIGHT}`) },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

describe("a server with a key", () => {
  test.skipIf(NOT_LINUX !== undefined)(
    `has it in the arguments of no process, and logs nothing of it${leftOut(NOT_LINUX)}`,
    async () => {
      const child = desk.start(
        ["serve", "--db-path", "spoken.pack", "--port", "0"],
        withKey(PASSPHRASE),
      );
      const log = collect(child.stderr);
      const url = await addressIn(log);
      const stored = await fetch(`${url}/v1/store`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ user_id: "anna", content: "tea" }),
      });
      expect(stored.status).toBeLessThan(300);
      const lines = [child.pid, ...descendants(child.pid)].map((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, "latin1"),
      );
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
      await log.end;
      expect(log.text).toContain("svc stopped");
      expectSilent(log.text, ...lines, await new Response(child.stdout).text());
    },
  );
});

/** Reads on to the end: a server that cannot write its log would stop for that. */
function collect(stream: ReadableStream<Uint8Array>): {
  text: string;
  readonly end: Promise<void>;
} {
  const decoder = new TextDecoder();
  const collected = { text: "", end: Promise.resolve() };
  collected.end = (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true });
  })();
  return collected;
}

async function addressIn(log: { readonly text: string }): Promise<string> {
  for (let waits = 0; waits < 1500; waits += 1) {
    const url = /http:\/\/\S+/.exec(log.text)?.[0];
    if (url !== undefined) return url;
    await Bun.sleep(20);
  }
  throw new Error(`the server did not start: ${log.text}`);
}

function descendants(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "latin1")
      .split(" ")
      .filter((word) => word !== "")
      .map(Number),
  );
  return [...children, ...children.flatMap(descendants)];
}
