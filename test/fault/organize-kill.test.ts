/**
 * Kills a process with SIGKILL before statements of a run of all jobs of the organizer, each time on a fresh copy of a pack: nothing
 * is half done, and the next run comes to what an undisturbed one comes to. Two processes at once come to the same. `KILL_AT=all`
 * kills at every statement, else at four.
 */
import { expect, test } from "bun:test";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";
import { filePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { onPack } from "../contract/sqlite-seed.ts";
import { ALL_JOBS, openOrganizing } from "./organize-engine.ts";
import { useKilling } from "./statement-kills.ts";

const killing = useKilling("organize-worker.ts");

/** Its index entries stay when it is archived, as a file leaves them that lost a commit. */
const LEFT_OVER = "The lamp in the hall";

/** What every job finds work in, told a hundred days ago. */
async function makePack(pack: SqlitePack): Promise<void> {
  let micros = (Date.now() - 100 * 86_400_000) * 1000;
  const engine = await openOrganizing(pack, { now: () => fromEpochMicros(micros++) });
  const when = { validFrom: "2026-03-01T08:00:00Z", eventTime: "2026-03-01T08:00:00Z" };
  for (let at = 0; at < 3; at += 1) {
    await engine.store({ userId: "ada", content: "The parcel is at the gate", ...when });
  }
  for (const content of ["JS", "JavaScript", "Anna Maria Keller", "Anna Maria Sofia Keller"]) {
    await engine.store({ userId: "ada", content, nodeType: "entity" });
  }
  for (const more of ["", " too", " as well"]) {
    const content = `The garden behind the house needs water in the evening${more}`;
    await engine.store({ userId: "ada", content, nodeType: "fact", confidence: 0.5 });
  }
  // Kept, faded, faded to nothing, and expired.
  await engine.store({ userId: "ada", content: "The gate has a new lock", ttlDays: null });
  await engine.store({ userId: "ada", content: "Perhaps it rains", epistemicType: "hypothetical" });
  await engine.store({ userId: "ada", content: "The pan is on the stove", ttlDays: 1 });
  await engine.store({ userId: "ada", content: LEFT_OVER, nodeType: "fact", ttlDays: null });
  await engine.close();
  onPack(pack, (database) =>
    database.run("UPDATE nodes SET lifecycle_state = 'archived' WHERE content = ?", [LEFT_OVER]),
  );
}

function everything(engine: MemoryEngine): Promise<readonly MemoryNode[]> {
  return engine.queryNodes({ lifecycleStates: LIFECYCLE_STATES, limit: 1000 });
}

/** What became of the memories. */
async function outcome(engine: MemoryEngine) {
  const nodes = await everything(engine);
  const told = nodes.map(({ id, lifecycleState, supersededBy, evidenceRefs }) => {
    return [id, lifecycleState, supersededBy ?? "", evidenceRefs.length].join(" ");
  });
  return told.sort();
}

/** Whatever is retired names what took its place, and has the record of that; whatever was published has its two. */
async function expectWhole(engine: MemoryEngine): Promise<void> {
  const nodes = await everything(engine);
  const ids = new Set(nodes.map(({ id }) => id));
  for (const { id, content, lifecycleState, supersededBy, nodeType } of nodes) {
    const operations = (await engine.getProvenance(id))?.operations.map(({ opType }) => opType);
    if (lifecycleState === "superseded") {
      expect(ids.has(supersededBy ?? id)).toBe(true);
      expect(operations).toContainEqual(
        expect.stringMatching(/^(?:ORGANIZER_MERGED|CONSOLIDATION_RETIRED)$/),
      );
    }
    if (lifecycleState === "archived" && content !== LEFT_OVER) {
      expect(operations).toContainEqual(
        expect.stringMatching(/^(?:LIFECYCLE_CHANGED|TOMBSTONE_SWEEP)$/),
      );
    }
    if (lifecycleState === "stable" && nodeType !== "summary") {
      expect(operations).toContain("LIFECYCLE_CHANGED");
    }
    if (nodeType !== "summary") continue;
    expect(operations?.toSorted()).toEqual(["CONSOLIDATION_PREPARED", "CONSOLIDATION_PUBLISHED"]);
  }
}

async function examine(pack: SqlitePack): Promise<{ left: unknown; done: readonly string[] }> {
  const engine = await openOrganizing(pack);
  await expectWhole(engine);
  const left = await outcome(engine);
  await engine.organize({ jobs: ALL_JOBS, budgetMs: 60_000 });
  const done = await outcome(engine);
  const { perJob } = await engine.organize({ jobs: ALL_JOBS, budgetMs: 60_000 });
  // Snapshots are built, and nothing is stored.
  const changing = Object.values(perJob).filter(({ nodesModified }) => nodesModified > 0);
  expect(changing.map(({ job }) => job)).toEqual(["snapshot_generation"]);
  await engine.close();
  return { left, done };
}

test("a kill at a statement leaves every change of every job whole or undone, and the next run ends the same", async () => {
  await makePack(filePack(killing.place("template")));
  const copied = (title: string): SqlitePack => filePack(killing.copy("template", title));
  const finished = copied("finished");
  const { count: steps } = await killing.finish(finished);
  const { left, done } = await examine(finished);
  expect(left).toEqual(done);
  expect(steps).toBeGreaterThan(50);

  const every = process.env["KILL_AT"] === "all" ? 1 : Math.ceil(steps / 4);
  for (let step = 1; step <= steps; step += every) {
    const pack = copied(`killed at ${step}`);
    await killing.killAt(step, pack);
    expect({ step, done: (await examine(pack)).done }).toEqual({ step, done });
  }

  const shared = copied("two processes");
  await Promise.all([killing.finish(shared), killing.finish(shared)]);
  expect((await examine(shared)).done).toEqual(done);
}, 3_000_000);
