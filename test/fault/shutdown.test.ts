import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../scripts/bench/http-client.ts";
import { endAllServers, startServer } from "../../scripts/bench/server.ts";
import { DISK } from "./disk-folder.ts";
import { companions, examine, SOUND } from "./examine.ts";
import { findLost, Ledger, processAll } from "./ledger.ts";

const CLIENTS = 6;
const STORES_BEFORE_SIGNAL = 20;
const SEED = 7;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(DISK, "svc-shutdown-"));
});
afterAll(async () => {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
});

test.each([{ signal: "SIGINT" }, { signal: "SIGTERM" }] as const)(
  "$signal under load loses nothing acknowledged and leaves one file",
  async ({ signal }) => {
    const pack = join(folder, `${signal}.pack`);
    const ledger = new Ledger(SEED);
    const first = await startServer({ pack });
    const client = createClient(first.url, "shutdown");
    const writing = Array.from({ length: CLIENTS }, async (_, index) => {
      const write = () => (index === 0 ? ledger.ingest(client, 4) : ledger.store(client));
      while (await write()) if (index === 0) await Bun.sleep(20);
    });
    while (ledger.acknowledgedStores.length < STORES_BEFORE_SIGNAL) await Bun.sleep(5);
    const ending = await first.end(signal);
    await Promise.all(writing);
    expect(ending).toEqual({ exitCode: 0, signal: null });
    expect(companions(pack)).toEqual([]);

    const second = await startServer({ pack });
    const reader = createClient(second.url, "shutdown");
    expect(await findLost(reader, ledger.acknowledged)).toEqual([]);
    await ledger.repeatOpenCalls(reader);
    await processAll(reader);
    await second.end(signal);
    expect(examine(pack, ledger.entries)).toEqual(SOUND);
    // Requests that came too late were told so.
    expect(ledger.refusals.filter((refusal) => !refusal.startsWith("503 "))).toEqual([]);
  },
  120_000,
);
