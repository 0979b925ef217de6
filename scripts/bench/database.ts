/**
 * A database beside a pack, in turns: `bun scripts/bench/database.ts [--rounds 5] [--database-url URL]`.
 * Stores by 8 clients, the model included, and fast ingest in batches of 100 by 8 clients, both over HTTP. Each round measures the pack
 * and the database; the ratio is that of the medians. Without `--database-url` a database server is started, which waits for the
 * disk as the pack does. Build first (`bun scripts/build.ts`).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../check/postgres.ts";
import { createClient } from "./http-client.ts";
import { createRandom, sentence } from "./sentences.ts";
import { endAllServers, startServer } from "./server.ts";
import { digits, quantile } from "./stats.ts";

const ROOT = join(import.meta.dir, "../..");
const CLIENTS = 8;
const STORES = 160;
const BATCHES = 40;
const BATCH = 100;

const random = createRandom(18);
let serial = 0;
function text(): string {
  serial += 1;
  return `${sentence(random, serial)} (${serial})`;
}

/** Calls by all clients until so many were made. @returns how many a second */
async function perSecond(
  count: number,
  call: (client: number) => Promise<boolean>,
): Promise<number> {
  const start = performance.now();
  let begun = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      while (begun < count) {
        begun += 1;
        if (!(await call(client))) throw new Error("a call failed");
      }
    }),
  );
  return (count * 1000) / (performance.now() - start);
}

/** @returns stores a second, and items of fast ingest a second */
async function measure(url: string, round: number): Promise<readonly [number, number]> {
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    createClient(url, `owner-${round}-${index}`),
  );
  const stores = await perSecond(STORES, async (index) => {
    return (await clients[index]?.store(text()))?.kind === "ok";
  });
  const batches = await perSecond(BATCHES, async (index) => {
    return (await clients[index]?.ingest(Array.from({ length: BATCH }, text)))?.kind === "ok";
  });
  return [stores, batches * BATCH];
}

/** In a process of its own, so that what one leaves to do does not slow the other. */
async function fresh(
  folder: string,
  round: number,
  databaseUrl: string | undefined,
): Promise<readonly [number, number]> {
  const pack = join(folder, `round-${round}.pack`);
  const server = await startServer({
    pack,
    ...(databaseUrl !== undefined && {
      args: ["serve", "--port", "0", "--log-level", "warn"],
      environment: { SVC_DATABASE_URL: databaseUrl },
    }),
  });
  try {
    // Loads the model.
    await createClient(server.url, "first").store(text());
    return await measure(server.url, round);
  } finally {
    await server.end("SIGKILL");
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: "string", default: "5" }, "database-url": { type: "string" } },
  });
  const folder = mkdtempSync(join(tmpdir(), "svc-database-"));
  const given = values["database-url"];
  const started = given === undefined ? await startPostgres(ROOT, tmpdir(), true) : undefined;
  if (typeof started === "string") throw new Error(`there is no database server: ${started}`);
  const url = given ?? started?.url ?? "";
  const [packs, databases]: [(readonly [number, number])[], (readonly [number, number])[]] = [
    [],
    [],
  ];
  try {
    for (let round = 0; round < Number(values.rounds); round += 1) {
      packs.push(await fresh(folder, round, undefined));
      databases.push(await fresh(folder, round, url));
    }
  } finally {
    await endAllServers();
    await started?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  for (const [place, what] of ["stores", "items of fast ingest"].entries()) {
    const [pack, database] = [packs, databases].map((rounds) =>
      quantile(
        rounds.map((round) => round[place] ?? 0),
        0.5,
      ),
    );
    console.log(
      `${what} a second, pack / database: ${digits(pack ?? 0)} / ${digits(database ?? 0)}, ratio ${digits((database ?? 0) / (pack ?? 1))}`,
    );
  }
}

await main();
