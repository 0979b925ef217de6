import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { MemoryEngine } from "../../../src/app/memory-engine.ts";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

const RAW = `raw_key:${Buffer.alloc(32, 9).toString("base64url")}`;
const RAW_KEY = /raw_key:[\w-]{43}/;

let desk: Desk;
beforeAll(async () => {
  desk = createDesk();
  const made = await desk.run(["init"]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/, encrypted\. Its owner is \S+\.\n/);
  expect(made.stdout).toContain(`\nIts key is kept in ${keyFolder()}`);
  expect(made.stdout).toContain("If you lose the key, you lose the pack");
  expect(made.stdout).toContain("svc key export ./memory.pack");
  expect(made.stdout).not.toMatch(RAW_KEY);
});
afterAll(() => desk.remove());

const at = (name: string): string => join(desk.folder, name);
const keyFolder = (): string => at(".config/svc/keys");
const run: Desk["run"] = (...call) => desk.run(...call);

/** The file in which the key of a pack is kept, as the documentation says. */
function keyFileOf(pack: string): string {
  return join(keyFolder(), `${readFileSync(at(pack)).subarray(0, 16).toString("hex")}.key`);
}

describe("init", () => {
  test("keeps the key in a file of this user alone, named by the pack's salt", () => {
    const file = keyFileOf("memory.pack");
    expect(readFileSync(file, "utf8")).toMatch(/^raw_key:[\w-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(keyFolder()).mode & 0o777).toBe(0o700);
  });

  test("prints an assistant configuration without a key, and it works", async () => {
    const { stdout } = await run(["init"]);
    expect(stdout).toContain("is already a pack, encrypted. It stays as it is.");
    const json = stdout.slice(stdout.indexOf("{"), stdout.lastIndexOf("}") + 1);
    const { memory } = JSON.parse(json).mcpServers;
    // Bun, when it runs the source, would read a file of settings beside it.
    const quiet = memory.command === process.execPath ? ["--no-env-file"] : [];
    const child = Bun.spawn([memory.command, ...quiet, ...memory.args], {
      cwd: "/",
      env: { HOME: process.env["HOME"] ?? "", XDG_CONFIG_HOME: at(".config") },
      stdin: new Blob([
        `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } })}\n`,
        `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`,
        `${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "memory_store", arguments: { content: "tea", user_id: "anna" } } })}\n`,
      ]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = await new Response(child.stdout).text();
    expect(said).toContain("node_id");
    expect(await new Response(child.stderr).text()).toBe("");
  });

  test("makes an unencrypted pack with --plain and with an empty key", async () => {
    for (const [name, ...rest] of [
      ["a.pack", "--plain"],
      ["b.pack", "--encryption-key", ""],
    ]) {
      const { code, stdout } = await run(["init", name ?? "", ...rest]);
      expect(code).toBe(0);
      expect(stdout).toContain("not encrypted");
      expect((await run(["info", name ?? ""])).stdout).toMatch(/Encryption +none/);
    }
    expect((await run(["init", "a.pack"])).stdout).toContain("a pack, not encrypted");
  });

  test("keeps neither a given key nor that of the settings", async () => {
    const before = readdirSync(keyFolder());
    const env = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: RAW };
    const given = await run(["init", "given.pack", "--encryption-key", RAW]);
    const configured = await run(["init", "configured.pack"], { env });
    for (const { code, stdout } of [given, configured]) {
      expect(code).toBe(0);
      expect(stdout).toContain("svc key import");
    }
    expect(readdirSync(keyFolder())).toEqual(before);
    expect((await run(["info", "given.pack"], { env })).code).toBe(0);
    expect((await run(["info", "configured.pack", "--encryption-key", RAW])).code).toBe(0);
    expect(await run(["info", "given.pack"])).toMatchObject({ code: 2, stdout: "" });
    // Whoever repeats it without the key learns what the pack is.
    const again = await run(["init", "given.pack"]);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain("is already a pack, encrypted");
    expect(again.stderr).toContain("svc key import");
  });

  test("makes encrypted directory packs that are found again", async () => {
    expect((await run(["init", "folder"])).stdout).toContain("encrypted.");
    const stored = await run(["store", "folder", "The key lies under the pot"]);
    expect(stored).toMatchObject({ code: 0, stderr: "" });
    for (const file of ["memory.db", "vectors.index"]) {
      expect(readFileSync(at(`folder/${file}`), "latin1")).not.toMatch(
        /SQLite format|under the pot/,
      );
    }
    expect((await run(["migrate", "folder", "moved.pack"])).code).toBe(0);
    expect((await run(["search", "moved.pack", "pot"])).stdout).toContain("under the pot");
  });

  test("makes no pack when its key cannot be kept", async () => {
    writeFileSync(at("in-the-way"), "");
    const { code, stderr } = await run(["init", "lost.pack"], {
      env: { XDG_CONFIG_HOME: at("in-the-way") },
    });
    expect(code).toBe(2);
    expect(stderr).toContain("cannot be written");
    expect(readdirSync(desk.folder).filter((name) => name.includes("lost"))).toEqual([]);
  });
});

describe("a kept key", () => {
  test("follows the pack wherever it is copied on this machine", async () => {
    copyFileSync(at("memory.pack"), at("copy.pack"));
    expect((await run(["info", "copy.pack"])).code).toBe(0);
  });

  test("comes after --encryption-key and the settings", async () => {
    const wrong = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: RAW };
    expect((await run(["info", "memory.pack"], { env: wrong })).code).toBe(2);
    expect((await run(["info", "memory.pack", "--encryption-key", RAW])).code).toBe(2);
    expect((await run(["info", "memory.pack", "--encryption-key", ""])).code).toBe(2);
    expect((await run(["info", "memory.pack"], { env: { SVC_ENCRYPTION_KEY: RAW } })).code).toBe(0);
  });

  test("in a file that others can read is refused, and doctor says so", async () => {
    chmodSync(keyFileOf("memory.pack"), 0o644);
    const { code, stderr } = await run(["info", "memory.pack"]);
    const doctor = await run(["doctor", "memory.pack"]);
    const status = await run(["key", "status", "memory.pack"]);
    chmodSync(keyFileOf("memory.pack"), 0o600);
    expect({ code, isNamed: stderr.includes("chmod 600") }).toEqual({ code: 2, isNamed: true });
    expect(doctor.stdout).toContain("[FAIL] key");
    expect(status.stdout).toContain("chmod 600");
  });

  test("that does not fit is named by its place", async () => {
    const file = keyFileOf("memory.pack");
    const right = readFileSync(file);
    writeFileSync(file, `${RAW}\n`);
    const { code, stderr } = await run(["info", "memory.pack"]);
    writeFileSync(file, right);
    expect(code).toBe(2);
    expect(stderr).toContain(`kept for it in ${file}`);
  });
});

describe("key", () => {
  test("status says where the key is, and shows it nowhere", async () => {
    const { stdout } = await run(["key", "status", "memory.pack", "--format", "json"]);
    expect(JSON.parse(stdout)).toEqual({
      db_path: at("memory.pack"),
      encryption: "AES-256-GCM",
      salt: readFileSync(at("memory.pack")).subarray(0, 16).toString("hex"),
      places: [{ place: keyFileOf("memory.pack"), problem: null }],
      in_settings: false,
    });
    expect(stdout).not.toMatch(RAW_KEY);
  });

  test("export shows the key with a warning, or writes it to a new private file", async () => {
    const shown = await run(["key", "export", "memory.pack"]);
    expect(shown.stdout).toBe(readFileSync(keyFileOf("memory.pack"), "utf8"));
    expect(shown.stderr).toContain("Warning: anyone who has this key");
    const written = await run(["key", "export", "memory.pack", "--output", "backup.key"]);
    expect(written.stdout).not.toMatch(RAW_KEY);
    expect(readFileSync(at("backup.key"), "utf8")).toBe(shown.stdout);
    expect(statSync(at("backup.key")).mode & 0o777).toBe(0o600);
    const again = await run(["key", "export", "memory.pack", "--output", "backup.key"]);
    expect(again).toMatchObject({ code: 2, stdout: "" });
  });

  test("forget and import take the key away and bring it back", async () => {
    const key = readFileSync(keyFileOf("memory.pack"), "utf8");
    writeFileSync(at("again.key"), key);
    const unasked = await run(["key", "forget", "memory.pack"]);
    expect(unasked).toMatchObject({ code: 2, stdout: "" });
    expect(unasked.stderr).toContain("svc key export");
    expect((await run(["key", "forget", "memory.pack", "--yes"])).stdout).toContain("Removed");
    const without = await run(["info", "memory.pack"]);
    expect(without.code).toBe(2);
    expect(without.stderr).toContain(`svc key import ${at("memory.pack")}`);
    expect((await run(["key", "forget", "memory.pack"])).stdout).toContain("No key");

    const wrong = await run(["key", "import", "memory.pack"], { stdin: `${RAW}\n` });
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(readdirSync(keyFolder())).not.toContain(keyFileOf("memory.pack"));
    const piped = await run(["key", "import", "memory.pack"], { stdin: key });
    expect(piped.stdout).toContain(keyFileOf("memory.pack"));
    const read = await run(["key", "import", "memory.pack", "--key-file", "again.key"]);
    expect(read.code).toBe(0);
    expect((await run(["info", "memory.pack"])).code).toBe(0);
  });

  test.each([
    { args: ["export", "plain.pack"], says: "not encrypted" },
    { args: ["import", "plain.pack"], says: "not encrypted" },
    { args: ["forget", "plain.pack", "--yes"], says: "not encrypted" },
    { args: ["import", "memory.pack", "--key-file", "missing.key"], says: "ENOENT" },
    { args: ["import", "memory.pack"], says: "is empty" },
    { args: ["export", "missing.pack"], says: "no such pack" },
    { args: ["status", "missing.pack"], says: "no such pack" },
  ])("$args is refused: $says", async ({ args, says }) => {
    await run(["init", "plain.pack", "--plain"]);
    const { code, stdout, stderr } = await run(["key", ...args]);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe("");
    expect(stderr).toContain(says);
  });
});

describe("doctor", () => {
  test("warns of a key in one place only, and is content with two", async () => {
    await run(["init", "single.pack"]);
    const one = await run(["doctor", "single.pack"]);
    expect(one.code).toBe(0);
    expect(one.stdout).toMatch(/\[WARN\] key: encrypted; .*one place only.*svc key export/);
    const key = readFileSync(keyFileOf("single.pack"), "utf8").trim();
    const env = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: key };
    expect((await run(["doctor", "single.pack"], { env })).stdout).toContain(
      "[OK]   key: encrypted",
    );
  });

  test("asks for no copy of a passphrase, whichever way the pack got it", async () => {
    const [first, next] = ["passphrase:one of them", "passphrase:another one"];
    await run(["init", "spoken.pack", "--encryption-key", first]);
    const kept = async (key: string) => {
      await run(["key", "import", "spoken.pack"], { stdin: key });
      return (await run(["doctor", "spoken.pack"])).stdout;
    };
    expect(await kept(first)).toContain("[OK]   key: encrypted with a passphrase");
    await run(["rekey", "spoken.pack", "--new-encryption-key", next]);
    expect(await kept(next)).toContain("[OK]   key: encrypted with a passphrase");
    await run(["rekey", "spoken.pack", "--new-encryption-key", RAW]);
    expect(await kept(RAW)).toContain("[WARN] key: encrypted");
  });

  test("says that a pack is unencrypted", async () => {
    await run(["init", "clear.pack", "--plain"]);
    const { stdout } = await run(["doctor", "clear.pack"]);
    expect(stdout).toContain("[OK]   key: the pack is not encrypted");
  });

  test("fails without the key and says what to do", async () => {
    await run(["init", "keyless.pack", "--encryption-key", RAW]);
    const { code, stdout } = await run(["doctor", "keyless.pack"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\[FAIL\] key: .*svc key import/);
    const typed = await run(["doctor", "keyless.pack", "--encryption-key", RAW]);
    expect(typed.stdout).toContain("[OK]   key: encrypted; no key is kept on this machine");
  });
});

describe("a program of one's own", () => {
  test("opens the pack with the kept key", async () => {
    const entry = join(import.meta.dir, "../../../src/app/memory-engine.ts");
    const program = `
      import { MemoryEngine } from ${JSON.stringify(entry)};
      const engine = await MemoryEngine.create({ pack_path: "memory.pack" });
      await engine.close();
      console.log("opened");`;
    const child = Bun.spawn([process.execPath, "--no-env-file", "-e", program], {
      cwd: desk.folder,
      env: { HOME: process.env["HOME"] ?? "", XDG_CONFIG_HOME: at(".config") },
      stdout: "pipe",
    });
    expect(await new Response(child.stdout).text()).toBe("opened\n");
  });

  test("makes a pack as init does if it asks for a kept key, and none of those that are there", async () => {
    const entry = join(import.meta.dir, "../../../src/app/memory-engine.ts");
    const program = `
      import { MemoryEngine } from ${JSON.stringify(entry)};
      const open = async (...given) => (await MemoryEngine.create(...given)).close();
      await open({ pack_path: "mine.pack" }, { keepKey: true });
      await open({ pack_path: "mine.pack" });
      await open({ pack_path: "clear.pack" });
      await open({ pack_path: "clear.pack" }, { keepKey: true });
      await open({ pack_path: "said.pack", encryption_enabled: false }, { keepKey: true });`;
    const child = Bun.spawnSync([process.execPath, "--no-env-file", "-e", program], {
      cwd: desk.folder,
      env: { HOME: process.env["HOME"] ?? "", XDG_CONFIG_HOME: at(".config") },
    });
    expect(child.stderr.toString()).toBe("");
    const begins = (name: string) => readFileSync(at(name)).toString("latin1", 0, 6);
    expect(begins("mine.pack")).not.toBe("SQLite");
    expect([begins("clear.pack"), begins("said.pack")]).toEqual(["SQLite", "SQLite"]);
    expect((await run(["doctor", "mine.pack"])).stdout).toContain("[WARN] key: encrypted");
  });
});

describe("rekey", () => {
  test("says that the new key is not kept as the former one was", async () => {
    await run(["init", "turned.pack"]);
    const args = ["rekey", "turned.pack", "--new-encryption-key", RAW];
    const { code, stderr } = await run(args);
    expect(code).toBe(0);
    expect(stderr).toContain("svc key import turned.pack");
    expect((await run(["info", "turned.pack"])).code).toBe(2);
    await run(["key", "import", "turned.pack"], { stdin: RAW });
    expect((await run(["info", "turned.pack"])).code).toBe(0);
    expect((await run(["compact", "turned.pack"])).code).toBe(0);
    expect((await run(["info", "turned.pack"])).code).toBe(0);
  });
});

test("a program that embeds the engine makes unencrypted packs unless encryption is on", async () => {
  const engine = await MemoryEngine.create({ pack_path: at("own.pack") });
  await engine.close();
  expect((await run(["info", "own.pack"])).stdout).toMatch(/Encryption +none/);
});
