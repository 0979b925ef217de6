import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../scripts/bench/http-client.ts";
import { endAllServers, launchServer, startServer } from "../../scripts/bench/server.ts";
import { DISK } from "./disk-folder.ts";
import { companions, examine, SOUND } from "./examine.ts";
import { type Entry, findLost, Ledger, processAll } from "./ledger.ts";

const STORES_EACH = 12;
const CLIENTS_EACH = 3;
const SEED = 11;
/** The moment at which two meet in a new file is short; one attempt may miss it. */
const NEW_PACKS = 2;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(DISK, "svc-processes-"));
});
afterAll(async () => {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores through one process and asks another one at once. @returns what the other did not see */
async function storeAndAsk(ledger: Ledger, own: Client, other: Client): Promise<string[]> {
  const known = ledger.acknowledgedStores.length;
  await ledger.store(own);
  const unseen: string[] = [];
  for (const entry of ledger.acknowledgedStores.slice(known)) {
    unseen.push(...(await findLost(other, [entry])));
    if (!(await isVisible(other, entry))) unseen.push(`${entry.word}: not found at once`);
  }
  return unseen;
}

async function isVisible(client: Client, { nodeId, word }: Entry): Promise<boolean> {
  const node = await client.node(nodeId ?? "");
  const answer = await client.retrieve(word, 10);
  return (
    node.kind === "ok" &&
    answer.kind === "ok" &&
    answer.value.results.some((result) => result.node_id === nodeId) &&
    Object.keys(answer.value.metrics.backend_failures).length === 0
  );
}

test("processes that create one pack at the same moment all open it", async () => {
  for (let attempt = 0; attempt < NEW_PACKS; attempt += 1) {
    const pack = join(folder, `new-${attempt}.pack`);
    const launched = Array.from({ length: 4 }, (_, index) =>
      launchServer({ pack, logFile: join(folder, `new-${attempt}-${index}.log`) }),
    );
    const outcomes = await Promise.allSettled(launched.map(({ listening }) => listening));
    await Promise.all(launched.map(({ end }) => end("SIGTERM")));
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [String(outcome.reason)] : [],
    );
    expect(failures).toEqual([]);
    expect(companions(pack)).toEqual([]);
  }
}, 120_000);

test.each([{ count: 3 }])(
  "$count processes on one pack lose nothing and see one another's writes at once",
  async ({ count }) => {
    const pack = join(folder, `${count}.pack`);
    const start = (index: number) =>
      startServer({ pack, logFile: join(folder, `${count}-${index}.log`) });
    const first = await start(0);
    const rest = await Promise.all(
      Array.from({ length: count - 1 }, (_, index) => start(index + 1)),
    );
    const servers = [first, ...rest];
    const ledger = new Ledger(SEED);
    const clients = servers.map(({ url }) => createClient(url, "processes"));
    const working = clients.flatMap((own, index) =>
      Array.from({ length: CLIENTS_EACH }, async () => {
        const other = clients[(index + 1) % count] ?? own;
        const unseen: string[] = [];
        for (let turn = 0; turn < STORES_EACH / CLIENTS_EACH; turn += 1) {
          unseen.push(...(await storeAndAsk(ledger, own, other)));
          await ledger.ingest(own, 2);
        }
        return unseen;
      }),
    );
    const unseen = (await Promise.all(working)).flat();
    const reader = createClient(first.url, "processes");
    const lost = await findLost(reader, ledger.acknowledged);
    await processAll(reader);
    const endings = await Promise.all(rest.map((server) => server.end("SIGTERM")));
    endings.push(await first.end("SIGTERM"));

    expect(unseen).toEqual([]);
    expect(lost).toEqual([]);
    expect(ledger.refusals).toEqual([]);
    expect(ledger.acknowledged.length).toBe(ledger.entries.length);
    expect(examine(pack, ledger.entries)).toEqual(SOUND);
    expect(endings).toEqual(endings.map(() => ({ exitCode: 0, signal: null })));
    expect(companions(pack)).toEqual([]);
  },
  180_000,
);
