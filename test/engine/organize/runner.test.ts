import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { createRunner, type Job, type Run } from "../../../src/engine/organize/jobs.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { filePack, openSqlitePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { until } from "../../until.ts";
import { testClock } from "../engines.ts";

const folders: string[] = [];
const stores: Store[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newPack(): SqlitePack {
  const folder = mkdtempSync(join(tmpdir(), "svc-runner-"));
  folders.push(folder);
  return filePack(folder);
}

/** A job that counts how often it was done, and a runner for it with a store of its own. */
async function running(
  pack: SqlitePack,
  clock: ReturnType<typeof testClock>,
  work: (run: Run) => Promise<string | undefined> = async () => undefined,
) {
  const store = await openSqlitePack(pack, { clock });
  stores.push(store);
  const seen = { runs: 0, warnings: [] as string[] };
  const job: Job = {
    kind: "sweep",
    after: ["opening", "call"],
    whole: { isByOwner: false, cooldownSeconds: 3600 },
    failure: "it was not swept",
    work: async (run) => {
      seen.runs += 1;
      return work(run);
    },
  };
  const ends: Promise<void>[] = [];
  const closing = new AbortController();
  const background = (failure: string, task: (signal: AbortSignal) => Promise<void>) => {
    const end = task(closing.signal).catch(() => void seen.warnings.push(failure));
    ends.push(end);
    return end;
  };
  const runner = createRunner({ store, clock, background }, [job]);
  /** So many calls, each with what follows it. */
  const calls = async (count: number) => {
    for (let made = 0; made < count; made += 1) {
      runner.after("call", "ada");
      await Promise.all(ends.splice(0));
    }
  };
  return { store, runner, seen, calls };
}

describe("a job", () => {
  test("is done once in its cooldown by all that have the pack open", async () => {
    const pack = newPack();
    const clock = testClock();
    const all = await Promise.all(Array.from({ length: 4 }, () => running(pack, clock)));
    const runs = () => all.reduce((sum, { seen }) => sum + seen.runs, 0);

    await Promise.all(all.map(({ calls }) => calls(20)));
    expect(runs()).toBe(1);

    clock.set("2026-03-18T13:00:01Z");
    await Promise.all(all.map(({ calls }) => calls(20)));
    expect(runs()).toBe(2);
  });

  test("rests as long as before when the pack is opened again, unless it is looked at for the opening", async () => {
    const pack = newPack();
    const clock = testClock();
    const before = await running(pack, clock);
    await before.calls(1);
    await before.store.close();

    const after = await running(pack, clock);
    clock.set("2026-03-18T12:59:00Z");
    await after.calls(5);
    expect(after.seen.runs).toBe(0);

    after.runner.after("opening");
    await until(async () => after.seen.runs === 1);
  });

  test("ends when another one has taken it over, and writes nothing", async () => {
    const pack = newPack();
    const clock = testClock();
    const begun = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const outcomes: string[] = [];
    const frozen = await running(pack, clock, async ({ claim }) => {
      begun.resolve();
      await woken.promise;
      const reads = { nodeIds: [], auditRecordIds: [], eventIds: [], claim };
      await frozen.store.change(reads, () => {
        outcomes.push("decided");
        return { change: undefined, result: undefined };
      });
      return undefined;
    });
    const done = frozen.calls(1);
    await begun.promise;
    clock.set("2026-03-18T12:02:00Z");
    const other = await running(pack, clock);

    await other.calls(1);
    woken.resolve();
    await done;

    expect([frozen.seen.runs, other.seen.runs]).toEqual([1, 1]);
    expect(outcomes).toEqual([]);
    expect(frozen.seen.warnings).toEqual([]);
    expect(await other.store.takeWork({ kind: "sweep", owner: ALL_OWNERS }, true)).toMatch(
      /^2026-03-18T13:02:00/,
    );
  });

  test("is given back by a stop, after which nothing begins until the next opening", async () => {
    const begun = Promise.withResolvers<void>();
    const one = await running(newPack(), testClock(), async ({ pause }) => {
      begun.resolve();
      while (await pause());
      return undefined;
    });
    one.runner.after("call", "ada");
    await begun.promise;

    await one.runner.stop();
    await one.calls(3);
    expect(one.seen.runs).toBe(1);
    expect(await one.store.takeWork({ kind: "sweep", owner: ALL_OWNERS }, true)).toMatchObject({
      generation: 2,
    });
  });

  test("keeps no process alive that has nothing else to do", () => {
    const held = JSON.stringify(join(import.meta.dir, "../../../src/engine/concurrency.ts"));
    const script = `
      const { whileHeld } = await import(${held});
      void whileHeld(async () => console.log("renewed"), () => new Promise(() => {}));
      process.on("exit", () => console.log("ended"));`;
    const child = Bun.spawnSync([process.execPath, "-e", script]);
    expect(child.stdout.toString()).toBe("ended\n");
  });
});
