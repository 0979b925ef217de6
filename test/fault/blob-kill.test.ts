/**
 * Kills a process with SIGKILL before statements that write events with pictures, each time on a pack of its own: both are there,
 * or neither.
 */
import { expect, test } from "bun:test";
import { inspectBlobs } from "../../src/adapters/sqlite/blobs/blobs.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { encrypted, filePack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { killedAt, useKilling } from "./statement-kills.ts";

const killing = useKilling("blob-worker.ts");

const packIn = (name: string): SqlitePack => encrypted(filePack(killing.place(name)));

async function examine(pack: SqlitePack) {
  const store = await openSqlitePack(pack);
  const events = await store.countEvents(ALL_OWNERS);
  await store.close();
  const database = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  const found = inspectBlobs(database);
  database.close();
  return { events, ...found };
}

test("a crash at each step of a write leaves events with their pictures, or neither", async () => {
  const whole = { events: 2, count: 4, bytes: 60_014, stray: 0 };
  const nothing = { events: 0, count: 0, bytes: 0, stray: 0 };
  const finished = packIn("finished");
  const steps = await killing.finish(finished);
  expect(await examine(finished)).toEqual(whole);
  expect(steps.count).toBeGreaterThan(10);
  let isDone = false;
  for (const step of killedAt(steps)) {
    const pack = packIn(`killed at ${step}`);
    await killing.killAt(step, pack);
    const left = await examine(pack);
    // Once the transaction is committed, it stays.
    isDone ||= left.events > 0;
    expect({ step, ...left }).toEqual({ step, ...(isDone ? whole : nothing) });
  }
  expect(isDone).toBe(true);
}, 300_000);
