/**
 * Kills a server with SIGKILL at random moments while several clients write, over and over on one pack, and counts what
 * was acknowledged and is gone, or is there twice.
 *
 * The suite runs 3 rounds. A longer run, and the seed of a failed one:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/kill-nine.test.ts
 *   SVC_FAULT_SEED=1234 bun test test/fault/kill-nine.test.ts
 * The server is SVC_EXE, else dist/svc, else src/main.ts under Bun.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../scripts/bench/http-client.ts";
import { endAllServers, launchServer, startServer } from "../../scripts/bench/server.ts";
import { DISK } from "./disk-folder.ts";
import { companions, examine, SOUND } from "./examine.ts";
import { findLost, findUnfindable, Ledger, processAll } from "./ledger.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 3);
const SEED = Number(process.env["SVC_FAULT_SEED"] ?? Date.now() % 1_000_000);
const STORE_CLIENTS = 4;
const INGEST_CLIENTS = 2;
const BATCH_MAX = 4;
/** Keeps the number of texts that have to be embedded at the end small. */
const INGEST_PAUSE_MS = 200;
const LONGEST_ROUND_MS = 30_000;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(DISK, "svc-kill-"));
});
afterAll(async () => {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * When to pull the plug: some time after the start, whatever happens then, or after some stores, at the very moment at
 * which a call of this kind is acknowledged, where a promise given too early would be broken.
 */
type Moment =
  | { readonly ms: number }
  | { readonly stores: number; readonly kind: "store" | "ingest" };

function chooseMoment(ledger: Ledger, round: number): Moment {
  if (round % 3 === 2) return { ms: ledger.whole(2_500) };
  return { stores: 1 + ledger.whole(50), kind: round % 3 === 1 ? "store" : "ingest" };
}

async function untilMoment(moment: Moment, ledger: Ledger): Promise<void> {
  if ("ms" in moment) return await Bun.sleep(moment.ms);
  const wanted = ledger.acknowledgedStores.length + moment.stores;
  const end = performance.now() + LONGEST_ROUND_MS;
  while (ledger.acknowledgedStores.length < wanted && performance.now() < end) await Bun.sleep(1);
  await Promise.race([ledger.nextAcknowledgement(moment.kind), Bun.sleep(LONGEST_ROUND_MS)]);
}

/** Writes until the server is gone. */
async function load(client: Client, ledger: Ledger): Promise<void> {
  const storing = Array.from({ length: STORE_CLIENTS }, async () => {
    while (await ledger.store(client));
  });
  const admitting = Array.from({ length: INGEST_CLIENTS }, async () => {
    while (await ledger.ingest(client, BATCH_MAX)) await Bun.sleep(INGEST_PAUSE_MS);
  });
  await Promise.all([...storing, ...admitting]);
}

/** One life of the server, from start to SIGKILL. @returns what it did not give back of earlier lives */
async function round(pack: string, ledger: Ledger, number: number): Promise<readonly string[]> {
  const moment = chooseMoment(ledger, number);
  const launched = launchServer({ pack });
  const isEarly = "ms" in moment && number % 2 === 0;
  const killed = isEarly ? untilMoment(moment, ledger).then(() => launched.end("SIGKILL")) : null;
  let url: string;
  try {
    ({ url } = await launched.listening);
  } catch (error) {
    // Killed before it listened, as it was meant to be.
    if (killed === null) throw error;
    await killed;
    return [];
  }
  const client = createClient(url, "kill-nine");
  const before = killed === null ? ledger.acknowledged.slice() : [];
  await ledger.repeatOpenCalls(client);
  const lost = await findLost(client, before);
  const writing = load(client, ledger);
  await (killed ?? untilMoment(moment, ledger).then(() => launched.end("SIGKILL")));
  await writing;
  return lost;
}

test(
  `keeps everything acknowledged over ${ROUNDS} kills`,
  async () => {
    const pack = join(folder, "memory.pack");
    const ledger = new Ledger(SEED);
    const lost = new Set<string>();
    const noteLost = (found: readonly string[]): void => {
      for (const one of found) lost.add(one);
    };
    for (let number = 0; number < ROUNDS; number += 1) {
      noteLost(await round(pack, ledger, number));
    }
    const server = await startServer({ pack });
    const client = createClient(server.url, "kill-nine");
    await ledger.repeatOpenCalls(client);
    noteLost(await findLost(client, ledger.acknowledged));
    await processAll(client);
    const missing = await findUnfindable(client, ledger.acknowledgedStores);
    const ending = await server.end("SIGTERM");
    const examination = examine(pack, ledger.entries);
    noteLost(examination.lost);
    console.log(
      `kill -9: ${ROUNDS} rounds, seed ${SEED}, ${ledger.entries.length} texts sent, ` +
        `${ledger.acknowledged.length} acknowledged (${ledger.acknowledgedStores.length} stores), ` +
        `${lost.size} lost, ${missing.length} not findable, ` +
        `${examination.repeated.length} applied twice, ${examination.torn.length} torn`,
    );
    expect([...lost]).toEqual([]);
    expect(missing).toEqual([]);
    expect(examination).toEqual(SOUND);
    expect(ledger.refusals).toEqual([]);
    expect(ending).toEqual({ exitCode: 0, signal: null });
    expect(companions(pack)).toEqual([]);
    expect(ledger.acknowledgedStores.length).toBeGreaterThan(0);
  },
  60_000 + ROUNDS * 90_000,
);
