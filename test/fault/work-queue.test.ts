/** Processes on one queue: at the same time, and one that is frozen and woken. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";
import { aMaterialization, aNode, anAdmission, anEvent, unit } from "../contract/samples.ts";
import { filePack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

const SWEEP = { kind: "sweep", owner: ALL_OWNERS };

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-queue-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A pack with so many jobs. */
async function packWith(jobs: number): Promise<SqlitePack> {
  const pack = filePack(mkdtempSync(join(folder, "pack-")));
  const store = await openSqlitePack(pack);
  const contents = Array.from({ length: jobs }, (_, index) => `note ${index}`);
  await store.admit(anAdmission(contents.map((content) => anEvent({ content }))));
  await store.close();
  return pack;
}

function start(pack: SqlitePack, action: "hold" | "drain") {
  const worker = join(import.meta.dir, "queue-worker.ts");
  return Bun.spawn([process.execPath, worker, JSON.stringify(pack), action], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
}

test("four processes do each job once, and what comes again and again once in its cooldown", async () => {
  const pack = await packWith(400);
  const workers = Array.from({ length: 4 }, () => start(pack, "drain"));

  const told = await Promise.all(
    workers.map(async ({ stdout }) => {
      // SAFETY: the worker tells it so.
      return (await new Response(stdout).json()) as { done: string[]; sweeps: number };
    }),
  );

  const done = told.flatMap((one) => one.done);
  expect(done).toHaveLength(400);
  expect(new Set(done).size).toBe(400);
  expect(told.map(({ sweeps }) => sweeps).toSorted()).toEqual([0, 0, 0, 1]);
  const store = await openSqlitePack(pack);
  expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
  expect(await store.countNodes("ada")).toBe(400);
  await store.close();
}, 120_000);

test("a process that was frozen writes nothing of what another one has done meanwhile", async () => {
  const pack = await packWith(1);
  const frozen = start(pack, "hold");
  const said = frozen.stdout.pipeThrough(new TextDecoderStream()).getReader();
  expect((await said.read()).value).toBe('"held"\n');
  frozen.kill("SIGSTOP");
  const early = await openSqlitePack(pack);
  expect(await early.claimJobs(ALL_OWNERS, 1)).toEqual([]);
  await early.close();
  // Two minutes later, by the clock of the other one.
  const now = () => fromEpochMicros((Date.now() + 120_000) * 1000);
  const other = await openSqlitePack(pack, { clock: { now } });
  const [job] = await other.claimJobs(ALL_OWNERS, 1);
  const claim = await other.takeWork(SWEEP, true);
  if (job === undefined || typeof claim !== "object") throw new Error("it is still held");
  const { event, generation } = job;
  const node = aNode(event);
  await other.materialize([aMaterialization(event, node, { vector: unit(1), generation })]);
  await other.finishWork(claim, { failure: undefined, cooldownSeconds: 7200 });
  const due = await other.takeWork(SWEEP, true);

  frozen.kill("SIGCONT");
  frozen.stdin.write("go\n");
  await frozen.stdin.end();

  expect(JSON.parse((await said.read()).value ?? "")).toEqual({
    ...{ attempts: 1, change: "taken over", finished: false },
  });
  expect(await frozen.exited).toBe(0);
  expect(await other.node(node.id, "ada")).toEqual(node);
  expect(await other.countNodes("ada")).toBe(1);
  expect(await other.takeWork(SWEEP, true)).toBe(due);
  await other.close();
}, 120_000);
