/**
 * The longest time for which a process does nothing else: `bun scripts/quality/pauses.ts`. Asks questions of 10,000 and 20,000
 * words that the memories have, in a pack of 200 notes and in one with texts of a megabyte; stores and asks about texts of ten
 * megabytes over HTTP; imports a pack, and forgets 1,000 memories. `--only notes|texts|long|copies` measures a part. Printed are,
 * for each, how long it took, the longest pause between two ticks of a timer, with and without the time for which other processes
 * had the processor, and the memory of the process.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { exportPack } from "../../src/packs/export-pack.ts";
import { importPack } from "../../src/packs/import-pack.ts";
import { startHttpServer } from "../../src/surface/http/server.ts";
import { createRandom } from "../bench/sentences.ts";

const OWNER = "ada";
const TICK_MS = 5;
const LONGEST_MS = 250;
const { values: flags } = parseArgs({
  options: {
    megabytes: { type: "string", default: "12" },
    long: { type: "string", default: "61" },
    imported: { type: "string", default: "3000" },
    only: { type: "string" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "svc-pauses-"));
const random = createRandom(11);
const VOCABULARY = Array.from({ length: 20_000 }, (_, at) => `w${at.toString(36)}${at % 7}`);

function words(count: number): string {
  const at = () => Math.floor(random() * VOCABULARY.length);
  return Array.from({ length: count }, () => VOCABULARY[at()]).join(" ");
}

/** Milliseconds for which this thread waited for a processor that others used; 0 where the system does not say. */
function held(): number {
  if (process.platform !== "linux") return 0;
  return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
}

async function longestPause(what: string, work: () => Promise<unknown>): Promise<void> {
  await Bun.sleep(300);
  Bun.gc(true);
  let [last, lastHeld, longest, own] = [performance.now(), held(), 0, 0];
  const look = (): void => {
    const [now, heldNow] = [performance.now(), held()];
    longest = Math.max(longest, now - last - TICK_MS);
    own = Math.max(own, now - last - TICK_MS - (heldNow - lastHeld));
    [last, lastHeld] = [now, heldNow];
  };
  const timer = setInterval(look, TICK_MS);
  const from = performance.now();
  await work();
  const took = performance.now() - from;
  look();
  clearInterval(timer);
  const megabytes = process.memoryUsage.rss() / 2 ** 20;
  const cells = [`${took.toFixed(0)} ms`, `${longest.toFixed(0)} ms`, `${own.toFixed(0)} ms`];
  const mark = own > LONGEST_MS ? "above the bound" : "";
  console.log(`| ${[what, ...cells, `${megabytes.toFixed(0)} MB`, mark].join(" | ")} |`);
}

async function ask(engine: MemoryEngine, pack: string): Promise<void> {
  await engine.retrieve({ query: "anything", userId: OWNER });
  for (const count of [100, 1000, 10_000, 20_000]) {
    const query = VOCABULARY.slice(0, count).join(" ").slice(0, 131_000);
    await longestPause(`${count} words, ${pack}`, () => engine.retrieve({ query, userId: OWNER }));
  }
}

/** Stores texts of ten megabytes over HTTP and asks about them, at first right after opening. */
async function longTexts(): Promise<void> {
  const pack_path = join(folder, "long.pack");
  const openEngine = () => MemoryEngine.create({ pack_path });
  const serve = () =>
    startHttpServer({
      ...{ host: "127.0.0.1", port: 0, allowUnauthenticatedExternalBind: false },
      ...{ auth: {}, cors: { origins: [], allowCredentials: false } },
      ...{ version: "0", inspector: false, log: () => {}, openEngine },
    });
  const post = async (url: string, path: string, body: object): Promise<Response> => {
    const answer = await fetch(`${url}${path}`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ user_id: OWNER, ...body }),
    });
    await answer.arrayBuffer();
    return answer;
  };
  let server = await serve();
  await server.ready;
  const text = (at: number) =>
    `The invoice ${at}. ${words(1000)} `.repeat(2000).slice(0, 9_900_000);
  for (let at = 0; at < Number(flags.long); at += 1) {
    const content = text(at);
    const store = () => post(server.url, "/v1/store", { content });
    await (at === 1 ? longestPause("a store of 10 MB", store) : store());
  }
  await server.stop();
  server = await serve();
  await server.ready;
  const question = { query: "What does the invoice say?", limit: 100 };
  const among = `among ${flags.long} texts of 10 MB`;
  for (const [what, more] of [
    ["the first question", {}],
    ["a question", {}],
    ["a question with explain", { explain: true }],
  ] as const) {
    await longestPause(`${what} ${among}`, () =>
      post(server.url, "/v1/retrieve", { ...question, ...more }),
    );
  }
  const [listed] = await (await server.ready).queryNodes({ userId: OWNER, limit: 1 });
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).arrayBuffer();
  await longestPause("a memory of 10 MB", () => get(`/v1/nodes/${listed?.id}`));
  await longestPause("its provenance", () => get(`/v1/nodes/${listed?.id}/provenance`));
  await server.stop();
}

/** Exports and imports memories, and forgets 1,000 of them. */
async function copyAndForget(): Promise<void> {
  const pack_path = join(folder, "many.pack");
  const engine = await MemoryEngine.create({ pack_path });
  for (let from = 0; from < Number(flags.imported); from += 500) {
    const items = Array.from({ length: 500 }, (_, at) => ({
      content: `${from + at} ${words(12)}`,
      role: "user" as const,
      sessionId: `s${Math.floor((from + at) / 1000)}`,
    }));
    await engine.ingestFastMany({ userId: OWNER, items });
  }
  while ((await engine.processPending({ userId: OWNER, budgetMs: 5000 })).pending > 0);
  const { config } = loadConfig({ explicit: { pack_path } });
  const output = join(folder, "many.jsonl");
  const { signal } = new AbortController();
  await exportPack(config, {
    ...{ form: "jsonl", withVectors: true, output, force: false, signal },
    write: async () => {},
  });
  const copy = loadConfig({ explicit: { pack_path: join(folder, "copy.pack") } }).config;
  await longestPause(`an import of ${flags.imported} memories`, () =>
    importPack(copy, { kind: "plain" }, { file: output, signal, onProgress: () => {} }),
  );
  const question = { userId: OWNER, sessionId: "s0" };
  const { confirm } = await engine.forget({ ...question, mode: "preview" });
  await longestPause("a forget of 1,000 memories", () =>
    engine.forget({ ...question, mode: "erase", confirm }),
  );
  await engine.close();
}

const PARTS = {
  notes: async () => {
    const notes = await MemoryEngine.create({ pack_path: join(folder, "notes.pack") });
    for (let note = 0; note < 200; note += 1) {
      await notes.store({ content: words(200), userId: OWNER });
    }
    await ask(notes, "200 notes");
    await notes.close();
  },
  texts: async () => {
    const texts = await MemoryEngine.create({ pack_path: join(folder, "texts.pack") });
    for (let at = 0; at < Number(flags.megabytes); at += 1) {
      await texts.store({ content: words(180_000), userId: OWNER });
    }
    await ask(texts, `${flags.megabytes} texts of a megabyte`);
    await texts.close();
  },
  long: longTexts,
  copies: copyAndForget,
};

try {
  console.log(
    "| what | took | longest pause | without others | memory | |\n|---|---|---|---|---|---|",
  );
  for (const [name, part] of Object.entries(PARTS)) {
    if (flags.only === undefined || flags.only === name) await part();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
