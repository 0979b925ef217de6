/** A passphrase is derived 600,000 times over, so it is derived once for all that open the pack with it. */
import { afterEach, beforeEach, expect, mock, test } from "bun:test";
import * as crypto from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PASSPHRASE = "correct horse battery staple";
const real = crypto.pbkdf2;
let derivations = 0;
// Counts, and derives as ever. The modules under test are loaded after this.
mock.module("node:crypto", () => ({
  ...crypto,
  pbkdf2: (...args: Parameters<typeof real>) => {
    derivations += 1;
    real(...args);
  },
}));
const { findKey } = await import("../../src/app/pack-key.ts");
const { openEngine } = await import("../../src/app/open-engine.ts");
const { createPack } = await import("../../src/packs/create-pack.ts");
const { reportOnPack } = await import("../../src/packs/inspect-pack.ts");
const { exportKey, importKey } = await import("../../src/packs/key-custody.ts");
const { migratePack } = await import("../../src/packs/maintenance.ts");
const { loadConfig } = await import("../../src/config/load.ts");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-derivations-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configAt = (path: object) =>
  loadConfig({ explicit: { ...path, key_store: "file" }, environment: {}, folder }).config;

async function count<T>(work: () => Promise<T>): Promise<readonly [number, T]> {
  derivations = 0;
  const value = await work();
  return [derivations, value];
}

test("a command with a passphrase derives it once, whatever it does with the pack", async () => {
  const config = configAt({ pack_path: join(folder, "a.pack") });
  const newKey = { kind: "chosen", key: PASSPHRASE, isKept: false } as const;
  const [making] = await count(async () => {
    const made = await createPack(config, newKey, "anna");
    await reportOnPack(made.config, false);
  });
  expect(making).toBe(1);

  const [typing] = await count(async () => {
    const found = await findKey(config, { ask: () => Promise.resolve(PASSPHRASE) });
    await (await openEngine(found.config)).close();
    await reportOnPack(found.config, false);
  });
  expect(typing).toBe(1);

  const [exporting, exported] = await count(() =>
    exportKey(config, { given: PASSPHRASE }, undefined),
  );
  expect(exporting).toBe(1);
  expect(exported.key).toStartWith("raw_key:");
});

test("a passphrase that is kept is derived once", async () => {
  const config = configAt({ pack_path: join(folder, "a.pack") });
  await createPack(config, { kind: "chosen", key: PASSPHRASE, isKept: false }, "anna");
  const before = process.env["XDG_CONFIG_HOME"];
  process.env["XDG_CONFIG_HOME"] = folder;
  try {
    const [importing] = await count(() => importKey(config, PASSPHRASE));
    expect(importing).toBe(1);
    const [opening, found] = await count(() => findKey(config));
    expect([opening, found.source.kind]).toEqual([0, "stored"]);
  } finally {
    if (before === undefined) delete process.env["XDG_CONFIG_HOME"];
    else process.env["XDG_CONFIG_HOME"] = before;
  }
});

test("a pack made of an encrypted folder opens with the same passphrase, under a key of its own", async () => {
  const from = configAt({
    db_path: join(folder, "d/memory.db"),
    vector_path: join(folder, "d/vectors.index"),
    lexical_path: join(folder, "d/lexical_index"),
  });
  await createPack(from, { kind: "chosen", key: PASSPHRASE, isKept: false }, "anna");
  const found = await findKey(from, { given: PASSPHRASE });
  const to = join(folder, "single.pack");
  await migratePack(found.config, to, found.text);

  const opened = await findKey(configAt({ pack_path: to }), { given: PASSPHRASE });
  expect((await reportOnPack(opened.config, false)).encrypted).toBeTrue();
  expect(opened.config.encryption_key?.reveal()).not.toBe(
    found.config.encryption_key?.reveal() ?? "",
  );
});
