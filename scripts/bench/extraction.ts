/**
 * Extraction under load: `bun scripts/bench/extraction.ts [--turns 10000] [--owners 8]`. The built program takes in messages of several
 * owners over HTTP and extracts them with a provider on this machine that needs 200 ms for each request; every fiftieth message states a
 * claim. Then it compares an ingest whose provider is dead with a fast ingest, call by call. Prints tables in Markdown.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startScripted } from "../../test/adapters/language-model/scripted-provider.ts";
import { removeTree } from "../check/remove-tree.ts";
import { endAllServers, type ServerProcess, startServer } from "./server.ts";

const { values: flags } = parseArgs({
  options: {
    turns: { type: "string", default: "10000" },
    owners: { type: "string", default: "8" },
  },
});
const TURNS = Number(flags.turns);
const OWNERS = Array.from({ length: Number(flags.owners) }, (_, index) => `owner${index}`);
const DELAY_MS = 200;
const PAIRS = 300;
/** Together with the rest of a message, 40 tokens. */
const FILLER = Array.from({ length: 30 }, () => "well").join(" ");

const place = mkdtempSync(join(tmpdir(), "svc-extraction-bench-"));

async function post(server: ServerProcess, path: string, body: object): Promise<object> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return Object(await response.json());
}

function serve(name: string, url: string): Promise<ServerProcess> {
  return startServer({
    pack: join(place, `${name}.pack`),
    environment: {
      SVC_EXTRACTION__PROVIDER: "ollama",
      SVC_EXTRACTION__MODEL: "scripted",
      SVC_EXTRACTION__BASE_URL: `${url}/v1`,
    },
  });
}

/** Peak and processor time of a process, from the system. */
function usage(pid: number): { readonly peakMb: number; readonly processorMs: number } {
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return {
    peakMb: Math.round(Number(peak) / 1024),
    processorMs: (Number(fields[11]) + Number(fields[12])) * 10,
  };
}

async function underLoad(): Promise<void> {
  const provider = startScripted({ delayMs: DELAY_MS });
  const server = await serve("load", provider.url);
  const each = Math.ceil(TURNS / OWNERS.length);
  const started = performance.now();
  await Promise.all(
    OWNERS.map(async (user_id) => {
      for (let turn = 0; turn < each; turn += 1) {
        const said = turn % 50 === 0 ? `I own lamp${turn}.` : `So it goes ${turn}.`;
        const content = `${user_id} turn ${turn}: ${said} ${FILLER}`;
        await post(server, "/v1/ingest", { content, user_id, session_id: "s" });
      }
    }),
  );
  const ingested = performance.now();
  const before = usage(server.pid);
  const passes = OWNERS.map((user_id) =>
    post(server, "/v1/extractions/process", { user_id, limit: 0 }).then(async () => {
      for (let pending = 1; pending > 0; ) {
        const pass = await post(server, "/v1/extractions/process", {
          user_id,
          limit: 1000,
          budget_ms: 600_000,
        });
        pending = Number(Reflect.get(pass, "pending"));
      }
    }),
  );
  await Promise.all(passes);
  const done = performance.now();
  const after = usage(server.pid);
  const said = provider.asked.flatMap(({ turns }) => turns.map(({ content }) => content));
  const isInOrder = OWNERS.every((owner) => {
    const places = said
      .filter((content) => content.startsWith(`${owner} `))
      .map((content) => Number(/turn (\d+):/.exec(content)?.[1]));
    return places.length === each && places.every((turn, index) => turn === index);
  });
  const total = each * OWNERS.length;
  print(`| ${total} turns, ${OWNERS.length} owners, ${DELAY_MS} ms a request | |`);
  print("|---|---|");
  print(`| ingest | ${seconds(ingested - started)} |`);
  print(`| extraction | ${seconds(done - ingested)} |`);
  print(`| requests | ${provider.asked.length} |`);
  print(`| requests at the same time, at most | ${provider.most()} |`);
  print(`| each turn asked once, in order by owner | ${isInOrder ? "yes" : "NO"} |`);
  print(
    `| processor time a turn | ${((after.processorMs - before.processorMs) / total).toFixed(2)} ms |`,
  );
  print(`| memory before, peak | ${before.peakMb} MB, ${after.peakMb} MB |`);
  provider.stop();
  await server.end("SIGKILL");
}

/** Each ingest beside a fast ingest of the same text, in turns. */
async function withDeadProvider(): Promise<void> {
  const provider = startScripted();
  provider.stop();
  const server = await serve("dead", provider.url);
  const times: Record<"ingest" | "fast", number[]> = { ingest: [], fast: [] };
  const timed = async (kind: keyof typeof times, path: string, body: object): Promise<void> => {
    const started = performance.now();
    await post(server, path, body);
    times[kind].push(performance.now() - started);
  };
  for (let turn = 0; turn < PAIRS; turn += 1) {
    const content = `I own lamp${turn}. ${FILLER}`;
    const item = { content, session_id: "s" };
    const ingest = () => timed("ingest", "/v1/ingest", { ...item, user_id: "ada" });
    const fast = () => timed("fast", "/v1/ingest/fast", { items: [item], user_id: "bob" });
    for (const call of turn % 2 === 0 ? [ingest, fast] : [fast, ingest]) await call();
  }
  const found = await post(server, "/v1/retrieve", { query: `lamp${PAIRS - 1}`, user_id: "ada" });
  print("\n| dead provider | median | 95 % |\n|---|---|---|");
  for (const [kind, all] of Object.entries(times)) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number) =>
      `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)} ms`;
    print(`| ${kind} | ${at(0.5)} | ${at(0.95)} |`);
  }
  const hits: unknown = Reflect.get(found, "results");
  print(`\nA search finds ${Array.isArray(hits) ? hits.length : 0} of the raw texts.`);
  await server.end("SIGKILL");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  await underLoad();
  await withDeadProvider();
} finally {
  await endAllServers();
  removeTree(place);
}
