/**
 * Kills processes that extract, two at a time on one pack, with SIGKILL at random moments, and looks after each whether anything
 * is lost, there twice, half published or asked for again.
 *
 * The suite runs 2 rounds for each layout. A longer run, and the seed of a failed one:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/extraction-kill.test.ts
 *   SVC_FAULT_SEED=1234 bun test test/fault/extraction-kill.test.ts
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectPack, openToInspect } from "../../src/adapters/sqlite/read/inspect.ts";
import type { MemoryEvent } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { extractable } from "../contract/extraction-samples.ts";
import { aMaterialization, aNode, anEvent, at, unit } from "../contract/samples.ts";
import {
  directoryPack,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { bundled } from "./bundled.ts";
import { DISK } from "./disk-folder.ts";
import { Ledger } from "./ledger.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 2);
const SEED = Number(process.env["SVC_FAULT_SEED"] ?? Date.now() % 1_000_000);
/** More than two processes extract in one round. */
const TURNS_A_ROUND = 40;
const LONGEST_LIFE_MS = 250;
const LANES = [
  { userId: "ada", scope: "personal" },
  { userId: "ada", scope: "project" },
  { userId: "bob", scope: "personal" },
] as const;

let folder = "";
let worker = "";
beforeAll(async () => {
  folder = mkdtempSync(join(DISK, "svc-extraction-"));
  worker = await bundled("extraction-worker.ts", folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Turns of each lane, each of which names the event of the one before. */
function turns(count: number): readonly MemoryEvent[] {
  return LANES.flatMap((lane) => {
    let before = "the first";
    return Array.from({ length: count }, (_, second) => {
      const event = anEvent({ ...lane, content: before, timestamp: at(second) });
      before = event.id;
      return event;
    });
  });
}

function start(pack: SqlitePack, log: string) {
  return Bun.spawn([process.execPath, worker, JSON.stringify(pack), log], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
}

/** Lets a process extract for a moment. @param ms undefined: until nothing is left */
async function life(pack: SqlitePack, log: string, ms?: number): Promise<void> {
  const child = start(pack, log);
  await child.stdout.getReader().read();
  if (ms !== undefined) {
    await Bun.sleep(ms);
    child.kill(9);
  }
  await child.exited;
  if (ms === undefined) expect(child.exitCode).toBe(0);
}

type Standing = {
  readonly status: string;
  readonly nodes: number;
  readonly edges: number;
  readonly committed: number;
  readonly events: number;
};

/** Events by what there is of them: the state of their work, memories, edges, receipts of publication. */
function standings(pack: SqlitePack): readonly Standing[] {
  const reading = openToInspect({ layout: pack.layout });
  try {
    return reading.database
      .query<Standing, []>(
        `SELECT status, nodes, edges, committed, count(*) AS events FROM (SELECT j.status,
           (SELECT count(*) FROM node_evidence c WHERE c.event = e.key) AS nodes,
           (SELECT count(*) FROM edges g WHERE g.provenance_event_id = e.id AND g.edge_type <> 'supersedes') AS edges,
           (SELECT count(*) FROM operations o WHERE o.target_id = e.id AND o.op_type = 'DERIVATION_COMMITTED') AS committed
         FROM events e JOIN jobs j ON j.event_key = e.key AND j.kind = 'extraction')
         GROUP BY status, nodes, edges, committed ORDER BY status`,
      )
      .all();
  } finally {
    reading.close();
  }
}

/** Does the work of all events that writes memories and index entries, those that a kill has cost included. */
async function materializeAll(store: Store): Promise<void> {
  for (;;) {
    const jobs = await store.claimJobs(ALL_OWNERS, 100);
    if (jobs.length === 0) return;
    for (const { unindexed = [] } of jobs) {
      await store.addNodes(unindexed.map((node) => ({ node, vector: unit(1), at: at(9) })));
    }
    await store.materialize(
      jobs.map(({ event }) =>
        aMaterialization(event, aNode(event, { id: event.id }), { vector: unit(1) }),
      ),
    );
  }
}

const WHOLE = { status: "complete", nodes: 3, edges: 2, committed: 1 };
const UNTOUCHED = { status: "pending", nodes: 0, edges: 0, committed: 0 };

/** Events that were asked for once more after what was answered had been kept. */
function askedAgain(log: string): readonly string[] {
  const saved = new Set<string>();
  return readFileSync(log, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [what, id = ""] = line.split(" ");
      if (what === "saved") saved.add(id);
      return what === "asked" && saved.has(id) ? [id] : [];
    });
}

describe.each([
  { name: "one file", packIn: filePack },
  { name: "a directory", packIn: directoryPack },
])("processes that extract from a pack of $name and are killed", ({ name, packIn }) => {
  test("lose nothing, publish nothing twice or by halves, and ask for nothing again", async () => {
    const chance = new Ledger(SEED);
    const pack = packIn(mkdtempSync(join(folder, "pack-")));
    const log = join(folder, `asked in ${name}`);
    writeFileSync(log, "");
    const events = turns(TURNS_A_ROUND * ROUNDS);
    const store = await openSqlitePack(pack);
    await store.admit(extractable(events));
    await store.close();
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([1, 2].map(() => life(pack, log, chance.whole(LONGEST_LIFE_MS))));
      const found = standings(pack);
      const sum = found.reduce((total, { events: count }) => total + count, 0);
      expect({ seed: SEED, round, sum }).toEqual({ seed: SEED, round, sum: events.length });
      for (const { events: count, ...standing } of found) {
        expect({ seed: SEED, round, standing }).toEqual({
          ...{ seed: SEED, round },
          standing: standing.status === "complete" ? WHOLE : UNTOUCHED,
        });
        expect(count).toBeGreaterThan(0);
      }
    }
    const killedAfter = standings(pack).find(({ status }) => status === "complete")?.events ?? 0;
    await Promise.all([1, 2].map(() => life(pack, log)));

    expect(standings(pack)).toEqual([{ ...WHOLE, events: events.length }]);
    expect(askedAgain(log)).toEqual([]);
    const done = await openSqlitePack(pack);
    expect(await done.countExtractions(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
    await materializeAll(done);
    // One claim of each lane is left, the entities of all turns, and the notes.
    expect(await done.countNodes(ALL_OWNERS)).toBe(3 * events.length + LANES.length);
    await done.close();
    const { layout } = pack;
    expect(inspectPack({ layout, checkIntegrity: true })).toMatchObject({
      ...{ damage: [], withoutVector: 0, withoutLexical: 0, pendingJobs: 0 },
      lexicalCount: events.length + LANES.length,
      vectorCount: 3 * events.length + LANES.length,
    });
    console.log(`${name}: ${2 * ROUNDS} kills, ${killedAfter} turns before the last, seed ${SEED}`);
  }, 600_000);
});
