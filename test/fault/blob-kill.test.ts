/**
 * Kills a process with SIGKILL before each statement that writes events with pictures, each time on a pack of its own: both are there,
 * or neither.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inspectBlobs } from "../../src/adapters/sqlite/blobs/blobs.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { encrypted, filePack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { bundled } from "./bundled.ts";
import { DISK } from "./disk-folder.ts";

let folder = "";
let worker = "";
beforeAll(async () => {
  folder = mkdtempSync(join(DISK, "svc-blobs-"));
  worker = await bundled("blob-worker.ts", folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function packIn(name: string): SqlitePack {
  mkdirSync(join(folder, name));
  return encrypted(filePack(join(folder, name)));
}

/** @param last the step before which it is killed; 0: it finishes. @returns what it said */
async function runWorker(pack: SqlitePack, last: number): Promise<string> {
  const child = Bun.spawn([process.execPath, worker, JSON.stringify(pack), String(last)], {
    ...{ stdout: "pipe", stderr: "inherit", stdin: "ignore" },
  });
  const said = await new Response(child.stdout).text();
  await child.exited;
  expect(child.signalCode).toBe(last === 0 ? null : "SIGKILL");
  return said.trim();
}

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
  const steps = Number(await runWorker(finished, 0));
  expect(await examine(finished)).toEqual(whole);
  expect(steps).toBeGreaterThan(10);
  let isDone = false;
  for (let step = 1; step <= steps; step += 1) {
    const pack = packIn(`killed at ${step}`);
    expect(await runWorker(pack, step)).toBe("");
    const left = await examine(pack);
    // Once the transaction is committed, it stays.
    isDone ||= left.events > 0;
    expect({ step, ...left }).toEqual({ step, ...(isDone ? whole : nothing) });
  }
  expect(isDone).toBe(true);
}, 300_000);
