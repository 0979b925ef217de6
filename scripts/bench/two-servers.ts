/**
 * Many clients against two servers on one database, one of which is killed with -9 in the middle:
 * `bun scripts/bench/two-servers.ts [--clients 64] [--seconds 60] [--database-url URL]`.
 * Half of the clients begin at each server; those of the killed one go on at the other. Then every acknowledged write is looked for,
 * and the work that the killed one held is waited for. Ends with exit code 1 when a write is missing, when the other server answered
 * with 5xx or lost a call, or when work stays undone. Without `--database-url` a database server is started, which waits for the disk.
 * Build first (`bun scripts/build.ts`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../check/postgres.ts";
import { KINDS, LoadClient, missing, newTally, OWNERS, type Tally } from "./load-client.ts";
import { endAllServers, type ServerProcess, startServer } from "./server.ts";
import { digits, quantile } from "./stats.ts";

const ROOT = join(import.meta.dir, "../..");
/** Longer than a lease: by then somebody else has the work of the killed server. */
const SETTLE_LIMIT_MS = 180_000;

/** Milliseconds that the server to be killed has to acknowledge a first write. */
const FIRST_ANSWER_LIMIT_MS = 60_000;

export type TwoServersOptions = {
  readonly url: string;
  readonly folder: string;
  readonly clients: number;
  readonly seconds: number;
};

export type TwoServersResult = {
  /** Of the calls to each server. */
  readonly killed: Tally;
  readonly other: Tally;
  readonly acknowledged: number;
  /** What is not there as it was acknowledged. */
  readonly lost: readonly string[];
  /** Memories without index entries at the end. */
  readonly pending: number;
};

/** Runs the clients, kills the first server in the middle, and looks for what was acknowledged. */
export async function runTwoServers(options: TwoServersOptions): Promise<TwoServersResult> {
  const { folder, clients, seconds } = options;
  const environment = { SVC_DATABASE_URL: options.url };
  const args = ["serve", "--port", "0", "--log-level", "warn"];
  const start = (name: string): Promise<ServerProcess> =>
    startServer({ pack: join(folder, name), args, environment });
  const [first, second] = [await start("first"), await start("second")];
  const [killed, other] = [newTally(), newTally()];
  const until = performance.now() + seconds * 1000;
  let isAlive = true;
  const kill = Bun.sleep(seconds * 500).then(async () => {
    // On a busy machine the first answer takes its time.
    const limit = performance.now() + FIRST_ANSWER_LIMIT_MS;
    while (killed.known.size === 0 && performance.now() < limit) await Bun.sleep(20);
    isAlive = false;
    await first.end("SIGKILL");
  });
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const begins = index % 2 === 0 ? new LoadClient(first.url, index, killed) : undefined;
      while (begins !== undefined && isAlive) await begins.next();
      const client = new LoadClient(second.url, clients + index, other);
      // On a busy machine the first acknowledged write takes its time.
      const limit = until + FIRST_ANSWER_LIMIT_MS;
      do await client.next();
      while (performance.now() < (other.known.size > 0 ? until : limit));
    }),
  );
  await kill;
  const known = new Map([...killed.known, ...other.known]);
  const lost = await missing(second.url, known);
  const pending = await settle(second.url);
  await second.end("SIGTERM");
  return { killed, other, acknowledged: known.size, lost, pending };
}

/** Waits until no memory lacks its index entries. @returns how many still do */
async function settle(url: string): Promise<number> {
  const end = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    let pending = 0;
    for (let index = 0; index < OWNERS; index += 1) {
      const body = JSON.stringify({ user_id: `owner-${index}` });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${url}/v1/materializations/process`, {
        method: "POST",
        headers,
        body,
      });
      const answer: Record<string, unknown> = Object(await response.json());
      pending += Number(answer["pending"]);
    }
    if (pending === 0 || performance.now() > end) return pending;
    await Bun.sleep(1000);
  }
}

/** What may not happen, a line each. */
export function complaintsOf({ killed, other, lost, pending }: TwoServersResult): string[] {
  const undone = pending === 0 ? [] : [`${pending} memories still lack their index entries`];
  // Calls that were at the killed server when it died got no answer; nothing else may fail.
  return [...killed.complaints, ...other.complaints, ...other.unanswered, ...lost, ...undone];
}

function report({ killed, other, acknowledged, lost, pending }: TwoServersResult): void {
  for (const [name, tally] of Object.entries({ killed, other })) {
    const statuses = [...tally.statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
    console.log(`${name}: ${statuses}; without an answer: ${tally.unanswered.length}`);
    for (const kind of KINDS) {
      const times = tally.times[kind];
      if (times.length === 0) {
        console.log(`  ${kind}: no calls`);
        continue;
      }
      const parts = [0.5, 0.95, 0.99].map((part) => digits(quantile(times, part))).join(" / ");
      console.log(`  ${kind}: ${times.length} calls, p50 / p95 / p99 ${parts} ms`);
    }
  }
  console.log(
    `acknowledged: ${acknowledged}, lost: ${lost.length}, without index entries: ${pending}`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      clients: { type: "string", default: "64" },
      seconds: { type: "string", default: "60" },
      "database-url": { type: "string" },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "svc-two-servers-"));
  const started =
    values["database-url"] === undefined ? await startPostgres(ROOT, tmpdir(), true) : undefined;
  if (typeof started === "string") throw new Error(`there is no database server: ${started}`);
  try {
    const result = await runTwoServers({
      url: values["database-url"] ?? started?.url ?? "",
      folder,
      clients: Number(values.clients),
      seconds: Number(values.seconds),
    });
    report(result);
    const complaints = complaintsOf(result);
    for (const line of complaints.slice(0, 20)) console.error(line);
    if (complaints.length > 0) process.exitCode = 1;
  } finally {
    await endAllServers();
    await started?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
