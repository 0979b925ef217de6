/**
 * Works on a whole pack in a process of its own, holds one open until its input ends, or opens it, stores and closes it
 * again until it is killed, printing what was acknowledged.
 * Arguments: hold, visit, compact, rekey or migrate; the pack as JSON; for rekey the new key, for migrate the new file.
 */
import { writeSync } from "node:fs";
import { freshKey } from "../../src/adapters/sqlite/copy/copy-pack.ts";
import { migrateDirectory } from "../../src/adapters/sqlite/copy/migrate-directory.ts";
import { rewritePack } from "../../src/adapters/sqlite/copy/rewrite-pack.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { cipherOf, compact } from "../adapters/sqlite/whole-packs.ts";
import { anAdmission, anEvent, at } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

const [work = "", packText = "", extra = ""] = process.argv.slice(2);
// SAFETY: written by the test that starts this process.
const pack = JSON.parse(packText) as SqlitePack;

async function hold(): Promise<void> {
  const store = await openSqlitePack(pack);
  writeSync(1, "ready\n");
  await Bun.stdin.text();
  await store.close();
}

async function visit(): Promise<void> {
  for (;;) {
    const store = await openSqlitePack(pack);
    for (let count = Math.floor(Math.random() * 3); count >= 0; count -= 1) {
      const id = asUuid(crypto.randomUUID());
      await store.admit(anAdmission([anEvent({ id, userId: extra })]));
      writeSync(1, `${id}\n`);
    }
    await store.close();
  }
}

async function rekey(): Promise<void> {
  const masterKey = new Uint8Array(Buffer.from(extra, "hex"));
  await rewritePack({
    layout: pack.layout,
    cipher: cipherOf(pack),
    purpose: "rekey",
    keyFor: () => freshKey({ masterKey }),
  });
}

async function migrate(): Promise<void> {
  if (pack.layout.kind === "file") throw new Error("a single file is not migrated");
  await migrateDirectory({
    layout: pack.layout,
    cipher: cipherOf(pack),
    destination: extra,
    destinationKey: freshKey(cipherOf(pack)),
    now: at(0),
  });
}

const WORK: Readonly<Record<string, () => Promise<unknown>>> = {
  hold,
  visit,
  rekey,
  migrate,
  compact: () => {
    writeSync(1, "ready\n");
    return compact(pack);
  },
};

try {
  await WORK[work]?.();
} catch (error) {
  writeSync(1, `${error instanceof SvcError ? error.code : String(error)}\n`);
  process.exitCode = 1;
}
