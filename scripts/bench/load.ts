/**
 * Many clients against one server: `bun scripts/bench/load.ts [--clients 64] [--seconds 60] [--write]`.
 * Stores, questions and lifecycle changes are mixed for the given time; then the server is killed, started again, and
 * every acknowledged write is looked for. Ends with exit code 1 when a request failed with 5xx, was refused although it was
 * right, or a write is missing. `--write` puts the table into docs/performance.md. Build first (`bun scripts/build.ts`).
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KINDS, LoadClient, missing, newTally, OWNERS, type Tally } from "./load-client.ts";
import { type Figure, type Section, toMarkdown, writePage } from "./report.ts";
import { endAllServers, type ServerProcess, startServer } from "./server.ts";
import { digits, quantile } from "./stats.ts";

const PAGE = join(import.meta.dir, "../../docs/performance.md");
/** Calls of each kind by one client alone, before the others come. */
const ALONE = 30;
const MIB = 2 ** 20;

/** Bytes in memory of a process. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** Each kind by one client alone. */
async function measureAlone(url: string): Promise<Tally> {
  const tally = newTally();
  const client = new LoadClient(url, 0, tally);
  for (let round = 0; round < 3 * ALONE; round += 1) await client.store();
  for (let round = 0; round < ALONE; round += 1) await client.retrieve();
  for (let round = 0; round < ALONE; round += 1) await client.change();
  return tally;
}

type Load = { readonly tally: Tally; readonly seconds: number; readonly memory: readonly number[] };

async function run(server: ServerProcess, clients: number, seconds: number): Promise<Load> {
  const tally = newTally();
  const memory: number[] = [];
  const start = performance.now();
  const sampler = setInterval(() => memory.push(residentBytes(server.pid)), 1000);
  const until = start + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const client = new LoadClient(server.url, index, tally);
      while (performance.now() < until) await client.next();
    }),
  );
  clearInterval(sampler);
  return { tally, seconds: (performance.now() - start) / 1000, memory };
}

function figuresOf({ tally, seconds, memory }: Load, alone: Tally): Figure[] {
  const rows = KINDS.map((kind): Figure => {
    const times = tally.times[kind];
    const middle = quantile(times, 0.5);
    return {
      what: `${kind}: ${times.length} calls, p50 / p95 / p99`,
      figure: `${[0.5, 0.95, 0.99].map((part) => digits(quantile(times, part))).join(" / ")} ms`,
      ratio: `${digits(middle / quantile(alone.times[kind], 0.5))}x the p50 of one client alone`,
    };
  });
  const calls = KINDS.reduce((total, kind) => total + tally.times[kind].length, 0);
  const first = memory[Math.min(5, memory.length - 1)] ?? 0;
  return [
    ...rows,
    { what: "all calls", figure: `${digits(calls / seconds)} a second`, ratio: "-" },
    {
      what: "memory of the server after 5 s, at most, at the end",
      figure: `${[first, Math.max(...memory), memory.at(-1) ?? 0].map((bytes) => digits(bytes / MIB)).join(" / ")} MiB`,
      ratio: `${digits(Math.max(...memory) / first)}x of after 5 s`,
    },
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      clients: { type: "string", default: "64" },
      seconds: { type: "string", default: "60" },
      write: { type: "boolean", default: false },
    },
  });
  const [clients, seconds] = [Number(values.clients), Number(values.seconds)];
  const folder = mkdtempSync(join(tmpdir(), "svc-load-"));
  try {
    const pack = join(folder, "load.pack");
    const server = await startServer({ pack });
    const alone = await measureAlone(server.url);
    const load = await run(server, clients, seconds);
    await server.end("SIGKILL");
    const again = await startServer({ pack });
    const known = new Map([...alone.known, ...load.tally.known]);
    const lost = await missing(again.url, known);
    await again.end("SIGTERM");
    const { statuses, complaints, unanswered } = load.tally;
    const counted = [...statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
    const section: Section = {
      title: "Load",
      command: `bun scripts/bench/load.ts --clients ${clients} --seconds ${seconds}`,
      notes: [
        `${clients} clients of ${OWNERS} owners at once, nine stores, seven questions and four lifecycle changes in twenty calls. ` +
          `Answers by status: ${counted}. Refused or failed: ${complaints.length + unanswered.length}. After kill -9 and a new start, of ` +
          `${known.size} acknowledged memories ${lost.length} were missing or in another state.`,
      ],
      figures: figuresOf(load, alone),
    };
    console.log(toMarkdown(section));
    const wrong = [...alone.complaints, ...complaints, ...unanswered, ...lost];
    for (const line of wrong.slice(0, 20)) console.error(line);
    if (wrong.length > 0) process.exitCode = 1;
    else if (values.write) writePage(PAGE, [section]);
  } finally {
    await endAllServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
