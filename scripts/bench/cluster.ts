/**
 * One, two and three database servers behind HAProxy, which chooses by the owner: `bun scripts/bench/cluster.ts [--seconds 8]`.
 * Every database server, every `svc` and HAProxy is a process of its own on this machine; the settings of HAProxy are those of
 * docs/scale.md. Clients of many owners store, ingest and ask. As all share the processors of one machine, the processor time of the
 * busiest database server says what a cluster of machines gains. Then one of three is killed under load: only its owners may notice,
 * and nothing that was acknowledged may be lost; otherwise the exit code is 1. Build first (`bun scripts/build.ts`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type PostgresServer, startPostgres } from "../check/postgres.ts";
import { type Cluster, cpuSeconds, startCluster } from "./cluster-places.ts";
import { createRandom, question, sentence } from "./sentences.ts";
import { endAllServers } from "./server.ts";
import { digits, median, quantile, sum } from "./stats.ts";

const ROOT = join(import.meta.dir, "../..");
const OWNERS = Array.from({ length: 96 }, (_, index) => `owner ${index}`);
const CLIENTS = 12;
const BATCH = 100;
const LARGEST = 3;
/** Milliseconds in which a call may fail after its database is back. */
const RECOVERY_MS = 5000;

const random = createRandom(18);
let serial = 0;
function text(): string {
  serial += 1;
  return `${sentence(random, serial)} (${serial})`;
}

type Answer = {
  readonly status: number;
  /** Number of the database, as HAProxy says it. */
  readonly place: string;
  readonly body: Readonly<Record<string, unknown>>;
};

async function call(url: string, owner: string, path: string, given?: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    headers: { "content-type": "application/json", "x-owner": owner },
    ...(given && { method: "POST", body: JSON.stringify({ user_id: owner, ...given }) }),
  });
  const body: unknown = await response.json().catch(() => ({}));
  return {
    status: response.status,
    place: response.headers.get("x-database") ?? "",
    body: Object(body),
  };
}

const CALLS = {
  store: (url: string, owner: string) => call(url, owner, "/v1/store", { content: text() }),
  ingest: (url: string, owner: string) => {
    const items = Array.from({ length: BATCH }, () => ({ content: text() }));
    return call(url, owner, "/v1/ingest/fast", { items });
  },
  retrieve: (url: string, owner: string) =>
    call(url, owner, "/v1/retrieve", { query: question(random) }),
};
type Kind = keyof typeof CALLS;

type Measured = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  /** Processor time of a call in milliseconds: of all database servers, of the busiest one, of all `svc`, of HAProxy. */
  readonly cpu: readonly [databases: number, busiest: number, servers: number, router: number];
};

/** Runs clients for a time, each call for the next owner. */
async function measure(
  { url, servers, router }: Cluster,
  databases: readonly PostgresServer[],
  kind: Kind,
  ms: number,
): Promise<Measured> {
  const used = () => ({
    databases: databases.map(({ pid }) => cpuSeconds(pid)),
    servers: sum(servers.map(({ pid }) => cpuSeconds(pid))),
    router: cpuSeconds(router.pid),
  });
  const before = used();
  const times: number[] = [];
  const start = performance.now();
  let turn = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() - start < ms) {
        turn += 1;
        const begun = performance.now();
        const { status, body } = await CALLS[kind](url, OWNERS[turn % OWNERS.length] ?? "");
        if (status !== 200) throw new Error(`${kind}: ${status} ${JSON.stringify(body)}`);
        times.push(performance.now() - begun);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const after = used();
  const per = (cpu: number) => (cpu * 1000) / times.length;
  const busy = after.databases.map((cpu, place) => cpu - (before.databases[place] ?? 0));
  return {
    perSecond: times.length / seconds,
    p50: median(times),
    p95: quantile(times, 0.95),
    cpu: [
      per(sum(busy)),
      per(Math.max(...busy)),
      per(after.servers - before.servers),
      per(after.router - before.router),
    ],
  };
}

function report(databases: string, kind: Kind, measured: Measured): void {
  const { perSecond, p50, p95, cpu } = measured;
  const columns = [databases, kind, perSecond, p50, p95, ...cpu];
  const cells = columns.map((cell) => (typeof cell === "number" ? digits(cell) : cell));
  console.log(`| ${cells.join(" | ")} |`);
}

/** What HAProxy adds to a call: calls through it and around it, in turns. */
async function overhead({ url, servers }: Cluster, owner: string): Promise<void> {
  const [through, around]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 200; turn += 1) {
    for (const [at, times] of [
      [url, through],
      [servers[0]?.url ?? "", around],
    ] as const) {
      const begun = performance.now();
      await call(at, owner, "/v1/nodes?limit=1");
      times.push(performance.now() - begun);
    }
  }
  console.log(
    `a read through HAProxy / around it, p50: ${digits(median(through))} / ${digits(median(around))} ms`,
  );
}

type Phase = "before" | "while one is away" | "after";

/** What clients met while one of the database servers, number 0, was killed and started again. */
class Outage {
  readonly #begun = performance.now();
  readonly #statuses = new Map<string, number>();
  readonly #known = new Map<string, { readonly owner: string; readonly content: string }>();
  readonly #complaints: string[] = [];
  #deadFrom = Number.POSITIVE_INFINITY;
  #backAt = Number.POSITIVE_INFINITY;

  /** Kills the server after a time, for as long. */
  async run(database: PostgresServer, ms: number): Promise<void> {
    await Bun.sleep(ms);
    this.#deadFrom = performance.now();
    await database.halt("SIGKILL");
    await Bun.sleep(ms);
    await database.resume();
    this.#backAt = performance.now();
  }

  /** Whether the server has been back for less than a time. */
  isWithin(ms: number): boolean {
    return performance.now() < this.#backAt + ms;
  }

  /** @param stored what the call was to store, of whom */
  note(answer: Answer, begun: number, stored: { owner: string; content: string }): void {
    const { status, place, body } = answer;
    const key = `${this.#phaseOf(begun)}, database ${place}: ${status}`;
    this.#statuses.set(key, (this.#statuses.get(key) ?? 0) + 1);
    if (status === 200) {
      if ("node_id" in body) this.#known.set(String(body["node_id"]), stored);
    } else if (status !== 503 || place !== "0" || !this.#isAround(begun)) {
      const after = digits(begun - this.#begun);
      this.#complaints.push(`${key} after ${after} ms: ${JSON.stringify(body)}`);
    }
  }

  #phaseOf(begun: number): Phase {
    if (begun < this.#deadFrom) return "before";
    return begun < this.#backAt ? "while one is away" : "after";
  }

  /** Whether a call that ends now may fail. */
  #isAround(begun: number): boolean {
    return performance.now() > this.#deadFrom && begun < this.#backAt + RECOVERY_MS;
  }

  /** Looks for what was acknowledged. @returns what must not happen */
  async complaints(url: string): Promise<readonly string[]> {
    for (const [key, count] of [...this.#statuses].sort()) console.log(`${key}: ${count}`);
    for (const [id, { owner, content }] of this.#known) {
      const { body } = await call(url, owner, `/v1/nodes/${id}`);
      if (body["content"] !== content) this.#complaints.push(`lost: ${id} of ${owner}`);
    }
    console.log(`acknowledged memories: ${this.#known.size}, all looked for`);
    return this.#complaints;
  }
}

/** Kills one of the database servers under load, and starts it again. Sets the exit code if more than that failed. */
async function killOne(url: string, victim: PostgresServer, ms: number): Promise<void> {
  const outage = new Outage();
  let turn = 0;
  const client = async (): Promise<void> => {
    while (outage.isWithin(ms)) {
      turn += 1;
      const owner = OWNERS[turn % OWNERS.length] ?? "";
      const content = text();
      const begun = performance.now();
      const answer = await (turn % 3 === 0
        ? CALLS.retrieve(url, owner)
        : call(url, owner, "/v1/store", { content }));
      outage.note(answer, begun, { owner, content });
      // A client that is told to try again does not do so at once.
      if (answer.status === 503) await Bun.sleep(200);
    }
  };
  await Promise.all([outage.run(victim, ms), ...Array.from({ length: CLIENTS }, client)]);
  const complaints = await outage.complaints(url);
  for (const line of complaints.slice(0, 20)) console.error(line);
  if (complaints.length > 0) process.exitCode = 1;
}

/** What a cluster does, and the largest one also while one of its database servers is away. */
async function measureCluster(
  name: string,
  cluster: Cluster,
  databases: readonly PostgresServer[],
  ms: number,
): Promise<void> {
  const { url } = cluster;
  // Loads the models, and makes the owners.
  for (const owner of OWNERS) await CALLS.store(url, owner);
  for (const kind of ["store", "retrieve"] as const) {
    report(name, kind, await measure(cluster, databases, kind, ms));
  }
  const [first, ...others] = databases;
  if (others.length === 0) await overhead(cluster, OWNERS[0] ?? "");
  if (first !== undefined && databases.length === LARGEST) await killOne(url, first, ms);
  // Last, because it leaves work behind.
  report(name, "ingest", await measure(cluster, databases, "ingest", ms));
}

let made = 0;

/** A new database on each server. @returns their addresses */
async function makeDatabases(servers: readonly PostgresServer[]): Promise<readonly string[]> {
  made += 1;
  return await Promise.all(
    servers.map(async ({ url }) => {
      const sql = new Bun.SQL({ url, max: 1 });
      await sql.unsafe(`CREATE DATABASE cluster_${made}`);
      await sql.close();
      return new URL(`/cluster_${made}`, url).href;
    }),
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: "string", default: "8" } } });
  const seconds = Number(values.seconds);
  const folder = mkdtempSync(join(tmpdir(), "svc-cluster-"));
  const databases = [];
  try {
    for (let number = 0; number < LARGEST; number += 1) {
      const database = await startPostgres(ROOT, tmpdir(), true);
      if (typeof database === "string") throw new Error(`there is no database server: ${database}`);
      databases.push(database);
    }
    console.log(
      "| databases | call | a second | p50 ms | p95 ms | CPU of a call, ms: databases | the busiest | svc | HAProxy |\n|---|---|---|---|---|---|---|---|---|",
    );
    const partitioned = { SVC_DATABASE_PARTITIONS: "16" };
    for (const [name, count, settings] of [
      ["1", 1, {}],
      ["1, 16 partitions", 1, partitioned],
      ["2", 2, {}],
      ["3", LARGEST, {}],
    ] as const) {
      const some = databases.slice(0, count);
      const cluster = await startCluster(folder, await makeDatabases(some), settings);
      await measureCluster(name, cluster, some, seconds * 1000);
      await cluster.end();
    }
  } finally {
    await endAllServers();
    for (const database of databases) await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
