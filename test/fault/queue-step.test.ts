/**
 * The schema step that makes the queue: killed before its statements, and beside a process of the version before it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { COMPAT_KEY } from "../compat/content.ts";
import { aPlanOf, claimed, extractable } from "../contract/extraction-samples.ts";
import { aMaterialization, aNode, anEvent, unit } from "../contract/samples.ts";
import { directoryPack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { bundled } from "./bundled.ts";
import { FormerProcess } from "./former-process.ts";
import { killedAt } from "./statement-kills.ts";
import type { Steps } from "./statement-steps.ts";

const PACKS = join(import.meta.dir, "../compat/packs/v1-step7");

let folder = "";
let worker = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-step-"));
  worker = await bundled("queue-step-worker.ts", folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the kept pack of step 7. */
function copied(kind: "plain.pack" | "directory" | "encrypted.pack", title: string): SqlitePack {
  const path = join(folder, `${kind} ${title}`);
  cpSync(join(PACKS, kind), path, { recursive: true });
  if (kind === "directory") return directoryPack(path);
  const pack: SqlitePack = { layout: { kind: "file", path } };
  return kind === "plain.pack" ? pack : { ...pack, encryptionKey: COMPAT_KEY };
}

function start(pack: SqlitePack, ...given: readonly string[]) {
  return Bun.spawn([process.execPath, worker, JSON.stringify(pack), ...given], {
    ...{ stdout: "pipe", stderr: "inherit", stdin: "ignore" },
  });
}

/** @param last the step before which it is killed; 0: it finishes. @returns what it said */
async function open(pack: SqlitePack, last: number): Promise<string> {
  const child = start(pack, "open", String(last));
  const said = await new Response(child.stdout).text();
  await child.exited;
  expect(child.signalCode).toBe(last === 0 ? null : "SIGKILL");
  return said.trim();
}

/** What a pack looks like without being opened by the program. */
function look(pack: SqlitePack) {
  const database = openDatabase({
    layout: pack.layout,
    mode: "read-write",
    ...connectionOf(pack),
    ...(pack.encryptionKey === undefined
      ? {}
      : { cipher: { masterKey: Buffer.from(COMPAT_KEY.slice("raw_key:".length), "base64url") } }),
  });
  const found = {
    tables: database
      .query("SELECT type, name FROM sqlite_schema WHERE name IN ('jobs', 'work') ORDER BY name")
      .values(),
    step: database.query("SELECT max(version) FROM schema_migrations WHERE part = 'core'").values(),
    jobs: database.query("SELECT * FROM jobs ORDER BY event_key, kind").values(),
    events: database.query("SELECT count(*) FROM events").values(),
  };
  database.close();
  return found;
}

describe("a crash at each statement of the step", () => {
  test.each([
    { kind: "plain.pack", most: 25 },
    { kind: "directory", most: 10 },
    { kind: "encrypted.pack", most: 10 },
  ] as const)(
    "leaves $kind as it was or done",
    async ({ kind, most }) => {
      const before = look(copied(kind, "as it was"));
      expect(before).toMatchObject({ tables: [["table", "jobs"]], step: [[7]] });
      const finished = copied(kind, "finished");
      const steps: Steps = JSON.parse(await open(finished, 0));
      const after = look(finished);
      expect(after.tables).toEqual([
        ["view", "jobs"],
        ["table", "work"],
      ]);
      expect(after.jobs).toEqual(before.jobs);
      expect(before.jobs.length).toBeGreaterThan(3);

      for (const step of killedAt(steps, most)) {
        const pack = copied(kind, `killed at ${step}`);
        expect(await open(pack, step)).toBe("");
        expect({ killed: step, ...look(pack) }).toEqual({
          killed: step,
          ...(step === steps.count ? after : before),
        });
        await (await openSqlitePack(pack, { createIfMissing: false })).close();
        expect({ killed: step, ...look(pack) }).toEqual({ killed: step, ...after });
      }
    },
    300_000,
  );
});

describe("a process of the version before the step", () => {
  test("that has the pack open goes on, and neither does what the other has claimed", async () => {
    const pack = copied("plain.pack", "both");
    const former = new FormerProcess(pack);
    const early = former.admit("early");
    expect(former.claim(1)).toEqual([early]);

    const store = await openSqlitePack(pack);
    expect(await store.claimJobs("ada", 10)).toEqual([]);
    former.settle(early);
    expect(former.job(early)).toEqual({ status: "complete", attempts: 1, lease_owner: null });

    const late = former.admit("late");
    const [job] = await store.claimJobs("ada", 10);
    expect(job?.event.content).toBe("late");
    expect(former.claim(10)).not.toContain(late);

    // The lease ends, and the former process takes the job.
    expect(former.claim(10, Date.now() + 120_000)).toContain(late);
    if (job === undefined) throw new Error("no job");
    const [refused] = await store.materialize([
      { ...aMaterialization(job.event, aNode(job.event)), generation: job.generation },
    ]);
    expect(refused).toMatchObject({ status: "pending", attempts: 0 });
    expect(await store.countNodes("ada")).toBe(0);
    former.settle(late);
    expect(await store.jobStatus(job.event.id, "ada")).toMatchObject({ status: "complete" });
    former.close();
    await store.close();
  });

  test("that has the pack open leaves extraction alone, which goes on beside it", async () => {
    const pack = copied("plain.pack", "extracting");
    const former = new FormerProcess(pack);
    const store = await openSqlitePack(pack);
    const events = [anEvent(), anEvent()];
    await store.admit(extractable(events));
    const any = { owner: "ada", isDueOnly: false };
    const claim = await claimed(store, any);
    const plan = aPlanOf(claim);
    await store.savePlan(claim, plan, claim.event.timestamp);

    // By its clock all leases have ended.
    const taken = former.claim(100, Date.now() + 3_600_000);
    for (const key of taken) former.settle(key);
    former.admit("meanwhile");

    expect(taken.length).toBeGreaterThanOrEqual(2);
    expect(await store.extractionJob(claim.event.id, "ada")).toMatchObject({ status: "running" });
    const publication = { plan, vectors: [unit(1), unit(1), unit(1)], at: claim.event.timestamp };
    expect(await store.publishPlan(claim, publication)).toBeUndefined();
    expect(await claimed(store, any)).toMatchObject({ event: { id: events[1]?.id ?? "" } });
    expect(await store.countExtractions("ada")).toEqual({ pending: 1, failed: 0 });
    former.close();
    await store.close();
  });

  test("that writes while the step runs loses nothing", async () => {
    const pack = copied("plain.pack", "at once");
    const before = look(pack).jobs.length;
    const child = start(pack, "write", "300");
    const reader = child.stdout.getReader();
    await reader.read();

    const store = await openSqlitePack(pack);

    expect(await child.exited).toBe(0);
    await store.close();
    const { jobs, tables } = look(pack);
    expect(tables).toEqual([
      ["view", "jobs"],
      ["table", "work"],
    ]);
    expect(jobs).toHaveLength(before + 300);
    const added = jobs.slice(before).map(([, , , status, attempts]) => [status, attempts]);
    expect(added).toEqual(Array(300).fill(["complete", 1]));
  });
});
