import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createDesk, createWordDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

// Each test starts the program several times.
setDefaultTimeout(120_000);

/** What an assistant sends first, and a call that opens the memory. */
const INITIALIZE = [
  {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  },
  {
    id: 2,
    method: "tools/call",
    params: { name: "memory_store", arguments: { content: "Anna prefers tea" } },
  },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  expect((await desk.run(["init", "origin.pack"])).code).toBe(0);
  await desk.store("origin.pack", SYSTEM_USER, "The spare key lies under the pot");
  const exported = await desk.run(["export", "origin.pack", "--output", "origin.jsonl"]);
  expect(exported.code).toBe(0);
});
afterAll(() => desk.remove());

const isEncrypted = (name: string): boolean =>
  readFileSync(join(desk.folder, name)).toString("latin1", 0, 15) !== "SQLite format 3";
const keys = (): readonly string[] => readdirSync(join(desk.folder, ".config/svc/keys"));

test("the two commands that init shows find for certain what they store", async () => {
  // Only the model is ever certain.
  const own = createDesk();
  await own.run(["init", "first.pack"]);
  const { stdout } = await own.run(["init", "tried.pack"]);
  const shown = [...stdout.matchAll(/^ {2}svc (store|find) (\S+) "(.+)"$/gm)];
  const [store = [], search = []] = shown.map(([, ...words]) => words);
  expect([store[0], search[0]]).toEqual(["store", "find"]);
  expect((await own.run(store)).code).toBe(0);
  const found = await own.run(search);
  expect(found.stdout).toContain(store[2] ?? "");
  expect(found.stdout).not.toContain("Nothing is known about this for certain");
  own.remove();
});

test.each([
  { typed: "origin.pak", hint: "ends in .pack, unless it is a folder; did you mean" },
  { typed: "orgin.pack", hint: "no such pack; did you mean" },
])("a wrong name is told the near pack that exists: $typed", async ({ typed, hint }) => {
  const { code, stderr } = await desk.run(["search", typed, "a key"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${typed}: no such pack`);
  expect(stderr).toContain(hint);
  expect(stderr).toContain(`did you mean ${join(desk.folder, "origin.pack")}?`);
  expect(stderr).not.toContain("memory.db");
});

test("an empty file is told to be one, and no other name for itself", async () => {
  writeFileSync(join(desk.folder, "hollow.pack"), "");
  const { code, stderr } = await desk.run(["list", "hollow.pack"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("is empty") });
  expect(stderr).not.toContain("did you mean");
});

describe("no pack is made", () => {
  const files = (folder: string): readonly string[] =>
    readdirSync(join(desk.folder, folder), { recursive: true })
      .map(String)
      .filter((name) => !name.startsWith(".config"))
      .sort();

  test.each([
    { what: "beside a pack", make: ["init", "beside"], named: "beside/memory.pack" },
    {
      what: "by its database beside a pack",
      make: ["init", "beside/memory.db"],
      named: "beside/memory.pack",
    },
    {
      what: "by an import beside a pack",
      make: ["import", "origin.jsonl", "beside"],
      named: "memory.pack",
    },
    {
      what: "for an assistant beside a pack",
      make: ["mcp", "--db-path", "beside"],
      named: "memory.pack",
    },
    { what: "in a folder with other things", make: ["init", "things"], named: "notes.txt" },
    { what: "in the home folder", make: ["init", "~"], named: "home folder" },
    { what: "under another ending", make: ["init", "w.txt"], named: ".pack" },
    {
      what: "through a link to nothing",
      make: ["init", "dangling.pack"],
      named: "dangling.pack is a link",
    },
    {
      what: "by an import through one",
      make: ["import", "origin.jsonl", "dangling.pack"],
      named: "is a link",
    },
    {
      what: "by a backup through one",
      make: ["backup", "origin.pack", "dangling.pack"],
      named: "is a link",
    },
  ])("$what", async ({ make, named }) => {
    for (const name of ["beside/memory.pack", "things/notes.txt"]) {
      mkdirSync(join(desk.folder, name, ".."), { recursive: true });
      writeFileSync(join(desk.folder, name), "");
    }
    rmSync(join(desk.folder, "dangling.pack"), { force: true });
    symlinkSync("nowhere.pack", join(desk.folder, "dangling.pack"));
    const before = files(".");
    const { code, stdout, stderr } = await desk.run(make, { stdin: INITIALIZE });
    expect(`${stdout}${stderr}`).toContain(named);
    expect(files(".")).toEqual(before);
    // An assistant is answered by the protocol.
    if (make[0] !== "mcp") expect(code).toBe(2);
  });

  test("beside another one that a setting names by its folder", async () => {
    mkdirSync(join(desk.folder, "set"));
    writeFileSync(join(desk.folder, "set/memory.pack"), "");
    const env = { SVC_PACK_PATH: "set" };
    const { code, stderr } = await desk.run(["serve", "--port", "0"], { env });
    expect({ code, files: files("set") }).toEqual({ code: 2, files: ["memory.pack"] });
    expect(stderr).toContain("did you mean");
  });
});

test.each([
  { name: "SVC_PACK_PATH", value: "named.pack", made: "named.pack" },
  { name: "SVC_DB_PATH", value: "named/memory.db", made: "named/memory.db" },
])("init without a path makes the pack that $name names", async ({ name, value, made }) => {
  const { code, stdout } = await desk.run(["init", "--plain"], { env: { [name]: value } });
  expect({ code, isMade: existsSync(join(desk.folder, made)) }).toEqual({ code: 0, isMade: true });
  expect(stdout).toContain(`svc store ./${value.replace("/memory.db", "")} `);
  expect(existsSync(join(desk.folder, "memory.pack"))).toBeFalse();
});

test("a directory pack is made in a new or an empty folder, and said", async () => {
  mkdirSync(join(desk.folder, "empty"));
  for (const name of ["empty", "new"]) {
    const { code, stdout } = await desk.run(["init", name]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${join(desk.folder, name)}, a directory pack,`);
  }
});

describe("an import", () => {
  test("makes an encrypted pack whose key is kept, as init does, and says so", async () => {
    const before = keys().length;
    const { code, stdout } = await desk.run(["import", "origin.jsonl", "restored.pack"]);
    expect(code).toBe(0);
    expect(stdout).toContain("The pack is encrypted.");
    expect(stdout).toContain(`Its key is kept in ${join(desk.folder, ".config/svc/keys")}`);
    expect(isEncrypted("restored.pack")).toBeTrue();
    expect(keys()).toHaveLength(before + 1);
    expect((await desk.run(["list", "restored.pack"])).stdout).toContain("under the pot");
  });

  test("makes an unencrypted pack where that is asked for", async () => {
    const args = ["import", "origin.jsonl", "plain.pack", "--plain", "--format", "json"];
    const { code, stdout } = await desk.run(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ encrypted: false, key_kept_in: null });
    expect(isEncrypted("plain.pack")).toBeFalse();
  });

  test("that fails leaves neither a pack nor a key", async () => {
    const before = keys();
    const { code } = await desk.run(["import", "-", "never.pack"], { stdin: "no export\n" });
    expect(code).toBe(1);
    expect(existsSync(join(desk.folder, "never.pack"))).toBeFalse();
    expect(keys()).toEqual(before);
  });
});

describe("a backup of the key", () => {
  const keyFinding = async (): Promise<{ status: string; message: string } | undefined> => {
    const { stdout } = await desk.run(["doctor", "backed.pack", "--format", "json"]);
    const { checks }: { checks: { name: string; status: string; message: string }[] } =
      JSON.parse(stdout);
    return checks.find(({ name }) => name === "key");
  };

  test("is remembered until the pack gets another key", async () => {
    expect((await desk.run(["init", "backed.pack"])).code).toBe(0);
    expect(await keyFinding()).toMatchObject({ status: "warn" });
    const args = ["key", "export", "backed.pack", "--output", "backed.key"];
    expect((await desk.run(args)).code).toBe(0);
    expect(await keyFinding()).toMatchObject({
      status: "ok",
      message: expect.stringContaining("was backed up on"),
    });
    const env = { SVC_NEW_ENCRYPTION_KEY: `raw_key:${"B".repeat(42)}A` };
    expect((await desk.run(["rekey", "backed.pack"], { env })).code).toBe(0);
    const imported = await desk.run(["key", "import", "backed.pack"], {
      stdin: `${env.SVC_NEW_ENCRYPTION_KEY}\n`,
    });
    expect(imported.code).toBe(0);
    expect(await keyFinding()).toMatchObject({ status: "warn" });
  });
});

/** Runs a server until it has said a word of the pack that it makes, and ends it. */
async function startOn(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = desk.start(args, env);
  if (args[0] === "mcp") {
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const call = { name: "memory_scan_nodes", arguments: { user_id: "anna" } };
    const messages = [
      { id: 1, method: "initialize", params: hello },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: call },
    ];
    for (const message of messages) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }
    await child.stdin.flush();
    const decoder = new TextDecoder();
    let answers = "";
    for await (const chunk of child.stdout) {
      answers += decoder.decode(chunk, { stream: true });
      if (answers.includes('"id":2')) break;
    }
    await child.stdin.end();
    await child.exited;
    return await new Response(child.stderr).text();
  }
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stderr) {
    said += decoder.decode(chunk, { stream: true });
    if (said.includes("listening on")) break;
  }
  child.kill("SIGTERM");
  await child.exited;
  return said;
}

describe.each(["serve", "mcp"])("svc %s without a pack", (command) => {
  const args = (name: string): readonly string[] => [
    command,
    "--db-path",
    name,
    ...(command === "serve" ? ["--port", "0"] : []),
  ];

  test("makes it encrypted, says where its key is, and finds the key again", async () => {
    const name = `${command}.pack`;
    const said = await startOn(args(name));
    expect(said).toContain("encrypted; its key is kept in");
    expect(isEncrypted(name)).toBeTrue();
    expect(await startOn(args(name))).not.toContain("its key is kept");
  });

  test("makes it unencrypted only where the settings say so", async () => {
    const name = `${command}-plain.pack`;
    const said = await startOn(args(name), { SVC_ENCRYPTION_ENABLED: "false" });
    expect(said).not.toContain("encrypted");
    expect(isEncrypted(name)).toBeFalse();
  });
});

test("four servers that make one pack at the same moment share one key", async () => {
  const before = keys().length;
  await Promise.all(
    Array.from({ length: 4 }, () => startOn(["serve", "--db-path", "shared.pack", "--port", "0"])),
  );
  expect(keys()).toHaveLength(before + 1);
  expect((await desk.run(["doctor", "shared.pack"])).stdout).toContain("encrypted");
});

describe("a passphrase", () => {
  const env = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: "open sesame, said Ali" };
  const exported = async (pack: string): Promise<string> => {
    const { code, stdout } = await desk.run(["key", "export", pack], { env });
    expect(code).toBe(0);
    return stdout.trim();
  };

  let first = "";
  test("gives each pack a key of its own, also one that is migrated or gets it later", async () => {
    const made = await desk.run(["init", "p1.pack"], { env });
    // It is not easy to guess, so nothing is said of it.
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect((await desk.run(["init", "folder"], { env })).code).toBe(0);
    expect((await desk.run(["migrate", "folder", "p3.pack"], { env })).code).toBe(0);
    expect((await desk.run(["init", "p4.pack", "--plain"])).code).toBe(0);
    const later = { SVC_NEW_ENCRYPTION_KEY: env.SVC_ENCRYPTION_KEY };
    expect((await desk.run(["rekey", "p4.pack", "--encrypt"], { env: later })).code).toBe(0);
    const texts: string[] = [];
    for (const pack of ["p1.pack", "folder", "p3.pack", "p4.pack"]) {
      texts.push(await exported(pack));
    }
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toEqual(texts.map(() => expect.stringMatching(/^raw_key:[\w-]{43}$/)));
    first = texts[0] ?? "";
  });

  test("of a pack that is compacted goes on opening it", async () => {
    expect((await desk.run(["compact", "p1.pack"], { env })).code).toBe(0);
    expect(await exported("p1.pack")).toBe(first);
  });

  test("that is easy to guess is told, and a random key never is", async () => {
    const random = `raw_key:${"A".repeat(43)}`;
    const init = async (name: string, key: string): Promise<string> =>
      (await desk.run(["init", name, "--encryption-key", key])).stderr;
    expect(await init("w1.pack", "qwertyuiop123456")).toContain("passphrase is weak: about 10^4");
    expect(await init("w4.pack", random)).toBe("");
    const weak = { SVC_NEW_ENCRYPTION_KEY: "xK9$mPq2vLz" };
    const rekeyed = await desk.run(["rekey", "w4.pack", "--encryption-key", random], { env: weak });
    expect(rekeyed).toMatchObject({
      ...{ code: 0, stderr: expect.stringContaining("fewer than 12 characters") },
    });
  });
});
