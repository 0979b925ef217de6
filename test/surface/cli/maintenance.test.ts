import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { bytesBelow } from "../../adapters/sqlite/folder.ts";
import { outcomesOf } from "./many-commands.ts";
import { createWordDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

const FACT = "The spare key lies under the blue flower pot";
// Deriving a key of a passphrase takes longer than all else; new-pack.test.ts has those.
const [SECRET, NEW_SECRET] = [1, 2].map(
  (byte) => `raw_key:${Buffer.alloc(32, byte).toString("base64url")}`,
) as [string, string];

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
const at = (name: string): string => join(desk.folder, name);
const withKey = (key: string) => ({
  env: { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: key },
});

beforeAll(async () => {
  desk = createWordDesk();
  for (const pack of ["plain.pack", "dir"]) {
    await desk.run(["init", pack, "--plain"]);
    await desk.store(pack, SYSTEM_USER, FACT);
  }
});
afterAll(() => desk.remove());

async function json(args: readonly string[], extra = {}): Promise<Record<string, unknown>> {
  const outcome = await desk.run([...args, "--format", "json"], extra);
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  return JSON.parse(outcome.stdout);
}

const counts = async (pack: string, extra = {}) => {
  const { node_count: nodes, event_count: events } = await json(["info", pack], extra);
  return { nodes, events };
};

describe("restore-backup", () => {
  test("asks before it replaces another pack, or one with another key", async () => {
    for (const [name, ...how] of [
      ["live.pack", "--plain"],
      ["other.pack", "--plain"],
      ["keyed.pack"],
    ]) {
      expect((await desk.run(["init", name ?? "", ...how])).code).toBe(0);
    }
    expect((await desk.run(["backup", "live.pack", "live-backup.pack"])).code).toBe(0);
    for (const other of ["other.pack", "keyed.pack"]) {
      const before = readFileSync(at(other));
      const args = ["restore-backup", "live-backup.pack", other];
      const { code, stderr } = await desk.run(args);
      expect({ other, code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--yes"),
      });
      expect(readFileSync(at(other))).toEqual(before);
      expect((await desk.run([...args, "--yes"])).code).toBe(0);
    }
    expect((await desk.run(["restore-backup", "live-backup.pack", "live.pack"])).code).toBe(0);
    expect((await desk.run(["restore-backup", "live-backup.pack", "fresh.pack"])).code).toBe(0);
  });

  test("replaces what a link leads to, and doctor names what it set aside", async () => {
    mkdirSync(at("linked"));
    cpSync(at("plain.pack"), at("linked/m.pack"));
    symlinkSync("m.pack", at("linked/lk.pack"));
    const { set_aside: aside } = await json(["restore-backup", "plain.pack", "linked/lk.pack"]);
    expect(lstatSync(at("linked/lk.pack")).isSymbolicLink()).toBeTrue();
    expect(readdirSync(at("linked")).sort()).toEqual(
      ["lk.pack", "m.pack", basename(String(aside))].sort(),
    );
    const { stdout } = await desk.run(["doctor", "linked/lk.pack", "--format", "json"]);
    expect(JSON.parse(stdout).checks).toContainEqual({
      name: "set aside",
      status: "warn",
      message: expect.stringContaining(String(aside)),
    });
  });
});

describe("a pack with a second name", () => {
  test("is read and not written", async () => {
    const name = "twice.pack";
    expect((await desk.run(["init", name])).code).toBe(0);
    await desk.store(name, SYSTEM_USER, FACT);
    linkSync(at(name), at(`${name}.second`));
    const before = readFileSync(at(name));
    for (const args of [
      ["list", name],
      ["search", name, "spare key"],
      ["export", name],
    ]) {
      const { code, stdout } = await desk.run(args);
      expect({ args, code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(FACT),
      });
    }
    for (const args of [
      ["store", name, "a note"],
      ["compact", name],
    ]) {
      const { code, stderr } = await desk.run(args);
      expect({ args, code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("second name"),
      });
    }
    expect(readFileSync(at(name))).toEqual(before);
  });

  test("is read with its log under the name by which another process has it", async () => {
    cpSync(at("plain.pack"), at("held.pack"));
    const engine = await desk.engine("held.pack");
    await engine.store({ content: "The bees live behind the shed", userId: SYSTEM_USER });
    linkSync(at("held.pack"), at("held-again.pack"));
    expect((await desk.run(["list", "held.pack"])).stdout).toContain("The bees live");
    expect((await desk.run(["list", "held-again.pack"])).code).toBe(0);
    await engine.close();
    expect((await desk.run(["list", "held-again.pack"])).stdout).toContain("The bees live");
  });
});

describe("compact", () => {
  test.each(["plain.pack", "dir"])("of %s says what it did", async (pack) => {
    const done = await json(["compact", pack]);
    const path = at(pack === "dir" ? "dir/memory.db" : pack);
    expect(done).toEqual({
      path,
      bytes_before: expect.any(Number),
      bytes_after: expect.any(Number),
      encrypted: false,
    });
    expect(await counts(pack)).toEqual({ nodes: 1, events: 1 });
  });

  test("is refused with exit code 2 while a server has the pack open", async () => {
    const server = desk.start(["serve", "--port", "0", "--db-path", "plain.pack"]);
    const reader = server.stderr.getReader();
    for (let said = ""; !said.includes("listening"); ) {
      said += new TextDecoder().decode((await reader.read()).value);
    }
    const refused = await desk.run(["compact", "plain.pack"]);
    server.kill("SIGTERM");
    await server.exited;
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("in use");
    expect((await desk.run(["compact", "plain.pack"])).code).toBe(0);
  });

  test("and its like are refused for their reason, and change nothing", async () => {
    const rows = [
      { args: ["compact", "missing.pack"], code: 1, says: "no such pack" },
      { args: ["migrate", "dir", "new.db"], code: 2, says: "does not end in .pack" },
      { args: ["migrate", "dir", "plain.pack"], code: 2, says: "never overwritten" },
      { args: ["migrate", "plain.pack", "new.pack"], code: 2, says: "single file" },
      { args: ["migrate", "missing", "new.pack"], code: 1, says: "no such pack" },
      { args: ["rekey", "plain.pack", "--plain"], code: 2, says: "is not encrypted" },
      { args: ["rekey", "plain.pack", "--new-encryption-key", SECRET], code: 2, says: "--encrypt" },
      { args: ["rekey", "plain.pack", "--encrypt"], code: 2, says: "SVC_NEW_ENCRYPTION_KEY" },
      { args: ["rekey", "plain.pack", "--encrypt", "--plain"], code: 2, says: "cannot be used" },
      {
        args: ["compact", "plain.pack", "--encryption-key", SECRET],
        code: 2,
        says: "not encrypted",
      },
      {
        args: ["rekey", "plain.pack", "--encrypt", "--new-encryption-key", "raw_key:short"],
        code: 2,
        says: "32 bytes",
      },
    ];
    const before = bytesBelow(desk.folder);
    const outcomes = await outcomesOf(desk.folder, rows);
    for (const [index, { args, code, says }] of rows.entries()) {
      expect({ args, ...outcomes[index] }).toMatchObject({
        ...{ args, code, stdout: "", stderr: expect.stringContaining(says) },
      });
      expect(outcomes[index]?.stderr).not.toMatch(/^\s+at |AQEBAQ/m);
    }
    expect(bytesBelow(desk.folder)).toEqual(before);
  });
});

describe("migrate", () => {
  test("makes a file of a directory, which stays", async () => {
    const before = bytesBelow(at("dir"));
    const done = await json(["migrate", "dir", "moved.pack"]);
    expect(done).toEqual({
      source: at("dir/memory.db"),
      destination: at("moved.pack"),
      nodes: 1,
      edges: 0,
      events: 1,
      vectors: 1,
      bytes_before: expect.any(Number),
      bytes_after: statSync(at("moved.pack")).size,
      encrypted: false,
    });
    expect(bytesBelow(at("dir"))).toEqual(before);
    const engine = await desk.engine("moved.pack");
    const found = await engine.retrieve({ query: "how do I get in?", userId: SYSTEM_USER });
    expect(found.results.map(({ node }) => node.content)).toEqual([FACT]);
    await engine.close();
    rmSync(at("moved.pack"));
  });

  test("encrypts the file when there is a key", async () => {
    const done = await json(["migrate", "dir", "secret.pack", "--encryption-key", SECRET]);
    expect(done["encrypted"]).toBeTrue();
    expect(readFileSync(at("secret.pack")).includes("flower")).toBeFalse();
    expect(await counts("secret.pack", withKey(SECRET))).toEqual({ nodes: 1, events: 1 });
    rmSync(at("secret.pack"));
  });
});

describe("rekey", () => {
  const packs = [
    { pack: "keyed.pack", copy: () => copyFileSync(at("plain.pack"), at("keyed.pack")) },
    { pack: "keyed", copy: () => cpSync(at("dir"), at("keyed"), { recursive: true }) },
  ];

  test.each([...packs])("encrypts $pack, changes its key, and takes it away", async (given) => {
    const { pack, copy } = given;
    copy();
    const env = { SVC_NEW_ENCRYPTION_KEY: SECRET };
    expect(await json(["rekey", pack, "--encrypt"], { env })).toMatchObject({ encrypted: true });
    const file = at(pack === "keyed" ? "keyed/memory.db" : pack);
    expect(readFileSync(file).includes("flower")).toBeFalse();
    expect(await desk.run(["info", pack])).toMatchObject({ code: 2, stdout: "" });
    expect(await counts(pack, withKey(SECRET))).toEqual({ nodes: 1, events: 1 });

    const change = ["rekey", pack, "--new-encryption-key", NEW_SECRET];
    expect(await json(change, withKey(SECRET))).toMatchObject({ encrypted: true });
    const old = await desk.run(["info", pack], withKey(SECRET));
    expect(old.code).toBe(2);
    expect(old.stderr).not.toContain(SECRET);
    const compacted = await json(["compact", pack, "--encryption-key", NEW_SECRET]);
    expect(compacted).toMatchObject({ encrypted: true });
    expect(await counts(pack, withKey(NEW_SECRET))).toEqual({ nodes: 1, events: 1 });

    const plain = ["rekey", pack, "--plain", "--encryption-key", NEW_SECRET];
    expect(await json(plain)).toMatchObject({ encrypted: false });
    expect(await counts(pack)).toEqual({ nodes: 1, events: 1 });
    expect(existsSync(at("keyed/manifest.json"))).toBeFalse();
    const doctor = await desk.run(["doctor", pack]);
    expect(doctor.code).toBe(0);
  });
});

describe("--encryption-key", () => {
  beforeAll(async () => {
    await json(["migrate", "dir", "owned.pack", "--encryption-key", SECRET]);
  });

  test.each([
    { args: ["info", "owned.pack"] },
    { args: ["store", "owned.pack", "another memory"] },
  ])("opens the pack for $args, and nothing opens it without", async ({ args }) => {
    const before = bytesBelow(desk.folder);
    const wrong = await desk.run([...args, "--encryption-key", NEW_SECRET]);
    const none = await desk.run([...args, "--encryption-key", ""], withKey(SECRET));
    for (const outcome of [wrong, none]) {
      expect(outcome.code).toBeGreaterThan(0);
      expect(`${outcome.stdout}${outcome.stderr}`).not.toMatch(/AQEBAQ|AgICAg/);
    }
    expect(bytesBelow(desk.folder)).toEqual(before);
    expect((await desk.run([...args, "--encryption-key", SECRET])).code).toBe(0);
  });

  test("encryption that is on without a key is refused", async () => {
    const outcome = await desk.run(["info", "plain.pack"], {
      env: { SVC_ENCRYPTION_ENABLED: "true" },
    });
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("SVC_ENCRYPTION_KEY");
  });
});
