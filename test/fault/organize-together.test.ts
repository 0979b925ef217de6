/** Two processes of the program put one pack in order at the same moment, through their command line and over HTTP. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  cleanEnvironment,
  endAllServers,
  type ServerProcess,
  startServer,
  svcCommand,
} from "../../scripts/bench/server.ts";
import { DISK } from "./disk-folder.ts";

const GROUPS = 30;
const COPIES = 3;
const JOBS = ["promote", "deduplicate", "alias_resolve", "tombstone_sweep"];
/** Everything that was stored is old enough at once. */
const ENVIRONMENT = {
  SVC_ORGANIZER__PROMOTION_AGE_DAYS: "0",
  SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "false",
};

type Json = Readonly<Record<string, unknown>>;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(DISK, "svc-together-"));
});
afterAll(async () => {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
});

async function ask({ url }: ServerProcess, path: string, body?: object): Promise<Json> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return Object(answer);
}

/** Groups of equal memories. @returns the ids, group by group */
async function fill(server: ServerProcess): Promise<readonly (readonly string[])[]> {
  const groups: string[][] = [];
  for (let group = 0; group < GROUPS; group += 1) {
    const when = "2026-03-01T08:00:00Z";
    const body = {
      ...{ user_id: "ada", content: `The parcel ${group} is at gate ${group * 7}` },
      ...{ valid_from: when, event_time: when },
    };
    const ids: string[] = [];
    for (let copy = 0; copy < COPIES; copy += 1) {
      ids.push(String((await ask(server, "/v1/store", body))["node_id"]));
    }
    groups.push(ids);
  }
  for (const content of ["JS", "JavaScript", "Anna Maria Keller", "Anna Maria Sofia Keller"]) {
    await ask(server, "/v1/store", { user_id: "ada", content, node_type: "entity" });
  }
  return groups;
}

const overHttp = (server: ServerProcess) =>
  ask(server, "/v1/organize", { jobs: JOBS, budget_ms: 60_000 });

async function onCommandLine(pack: string): Promise<Json> {
  const args = ["organize", pack, "--jobs", JOBS.join(","), "--budget-ms", "60000"];
  const child = Bun.spawn([...svcCommand(), ...args, "--format", "json"], {
    env: { ...cleanEnvironment(), ...ENVIRONMENT },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  const said = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return JSON.parse(said);
}

const jobsRunOf = ({ jobs_run }: Json) => jobs_run;

function modified(answer: Json, job: string): number {
  return Number(Object(Object(answer["per_job"])[job])["nodes_modified"]);
}

/** The operations on a memory, by kind and count. */
async function changesOf(server: ServerProcess, id: string): Promise<Record<string, number>> {
  const { operations } = await ask(server, `/v1/nodes/${id}/provenance`);
  const counts: Record<string, number> = {};
  // SAFETY: the interface describes the list.
  for (const { op_type } of operations as Json[]) {
    counts[String(op_type)] = (counts[String(op_type)] ?? 0) + 1;
  }
  return counts;
}

test("two processes that organize one pack at once do each change once, and leave nothing for a third run", async () => {
  const pack = join(folder, "together.pack");
  const start = (name: string) =>
    startServer({ pack, logFile: join(folder, `${name}.log`), environment: ENVIRONMENT });
  const [one, two] = [await start("one"), await start("two")];
  const groups = await fill(one);

  const runs = await Promise.all([overHttp(one), overHttp(two), onCommandLine(pack)]);

  expect(runs.map(jobsRunOf)).toEqual([JOBS, JOBS, JOBS]);
  const merged = runs.map((run) => modified(run, "deduplicate"));
  expect(merged.reduce((total, count) => total + count, 0)).toBe(GROUPS * (COPIES - 1));
  for (const ids of groups) {
    const nodes = await Promise.all(ids.map((id) => ask(two, `/v1/nodes/${id}`)));
    const kept = nodes.filter(({ lifecycle_state }) => lifecycle_state === "stable");
    expect(kept).toHaveLength(1);
    const retired = nodes.filter(({ lifecycle_state }) => lifecycle_state === "superseded");
    expect(retired).toHaveLength(COPIES - 1);
    expect(kept[0]?.["evidence_refs"]).toHaveLength(COPIES);
    for (const { id } of retired) {
      expect((await changesOf(one, String(id)))["ORGANIZER_MERGED"]).toBe(1);
    }
    const ofKept = await changesOf(one, String(kept[0]?.["id"]));
    expect(ofKept["LIFECYCLE_CHANGED"]).toBe(1);
  }
  const again = await overHttp(two);
  expect(JOBS.map((job) => modified(again, job))).toEqual([0, 0, 0, 0]);
  const endings = await Promise.all([one, two].map((server) => server.end("SIGTERM")));
  expect(endings).toEqual(endings.map(() => ({ exitCode: 0, signal: null })));
}, 180_000);
