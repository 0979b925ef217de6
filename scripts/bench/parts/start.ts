import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createVectors, fill, openStore } from "../fill.ts";
import { createClient, unwrap } from "../http-client.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, question } from "../sentences.ts";
import { cleanEnvironment, type ServerProcess, startServer, svcCommand } from "../server.ts";
import { digits, median, quantile, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const FILLED = 10_000;
const QUESTIONS = 50;
/** Milliseconds after which a server is at rest. */
const REST_MS = 12_000;

/** How soon a fresh process answers, and how much memory it takes. */
export async function measureStart(context: PartContext): Promise<Section> {
  const pack = join(context.folder, "start.pack");
  const empty = await openStore(pack);
  await empty.close();
  const times = { version: [] as number[], health: [] as number[], tools: [] as number[] };
  const count = repetitions(context, 20, 3);
  for (let round = 0; round < count + 1; round += 1) {
    const measured = {
      version: await timed(runVersion),
      health: await untilHealth(pack),
      tools: await untilTools(pack),
    };
    // The first round fills the page cache.
    if (round === 0) continue;
    times.version.push(measured.version);
    times.health.push(measured.health);
    times.tools.push(measured.tools);
  }
  context.say("start: times measured");
  const version = median(times.version);
  const line = (what: string, ms: readonly number[]): Figure => ({
    what,
    figure: `median ${digits(median(ms))} ms, p95 ${digits(quantile(ms, 0.95))} ms`,
    ratio: `${digits(median(ms) / version)} x --version`,
  });
  return {
    title: "Start and memory",
    command: "bun scripts/bench/bench.ts start",
    notes: [
      `Process start to the answer, ${count} starts in turns, files in the page cache. The probe of the times is \`svc --version\`, of the memory the idle server. Memory: resident set, in brackets the part that is not shared with files.`,
    ],
    figures: [
      { ...line("svc --version", times.version), ratio: "1" },
      line("svc serve: first answer of /v1/health", times.health),
      line("svc mcp: tools/list answered", times.tools),
      ...(await measureMemory(context, pack)),
    ],
  };
}

async function runVersion(): Promise<void> {
  const child = Bun.spawn([...svcCommand(), "--version"], { env: cleanEnvironment() });
  if ((await child.exited) !== 0) throw new Error("svc --version failed");
}

async function untilHealth(pack: string): Promise<number> {
  const port = await freePort();
  const serve = ["serve", "--db-path", pack, "--port", String(port), "--log-level", "warn"];
  const start = performance.now();
  const child = Bun.spawn([...svcCommand(), ...serve], {
    env: cleanEnvironment(),
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    while (child.exitCode === null) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}/v1/health`);
        if (response.ok) return performance.now() - start;
      } catch {
        // Nobody listens yet.
      }
      await Bun.sleep(1);
    }
    throw new Error(`svc serve ended with exit code ${child.exitCode}`);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0),
      );
    });
  });
}

const HANDSHAKE = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 2, method: "tools/list" },
];

async function untilTools(pack: string): Promise<number> {
  const start = performance.now();
  const child = Bun.spawn([...svcCommand(), "mcp", "--db-path", pack], {
    env: cleanEnvironment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    const answers = linesOf(child.stdout);
    const [hello, ...rest] = HANDSHAKE;
    child.stdin.write(`${JSON.stringify(hello)}\n`);
    await answers.next();
    for (const message of rest) child.stdin.write(`${JSON.stringify(message)}\n`);
    for await (const line of answers) {
      const message: { readonly id?: number; readonly result?: { readonly tools?: unknown[] } } =
        JSON.parse(line);
      if (message.id !== 2) continue;
      if ((message.result?.tools?.length ?? 0) === 0) throw new Error(`no tools: ${line}`);
      return performance.now() - start;
    }
    throw new Error("svc mcp ended without an answer");
  } finally {
    child.stdin.end();
    await child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

async function measureMemory(context: PartContext, pack: string): Promise<Figure[]> {
  const idle = await startServer({ pack });
  const atStart = residentMegabytes(idle);
  const client = createClient(idle.url, "bench");
  unwrap(await client.store("The spare key lies under the blue flower pot."));
  const afterStore = residentMegabytes(idle);
  await idle.end("SIGTERM");

  const model = await openRawModel();
  const vectorOf = await createVectors(model);
  await model.close();
  const store = await openStore(pack);
  await fill(store, "bench", { from: 0, to: FILLED }, vectorOf);
  await store.close();
  context.say("start: filled");
  const full = await startServer({ pack });
  const random = createRandom(5);
  const asking = createClient(full.url, "bench");
  for (let count = 0; count < QUESTIONS; count += 1)
    unwrap(await asking.retrieve(question(random)));
  const atSize = residentMegabytes(full);
  await Bun.sleep(REST_MS);
  const atRest = residentMegabytes(full);
  await full.end("SIGTERM");
  const line = (what: string, { all, own }: Resident): Figure => ({
    what: `resident memory, ${what}`,
    figure: `${digits(all)} MB (${digits(own)} MB)`,
    ratio: `${digits(all / atStart.all)} x idle`,
  });
  return [
    line("idle", atStart),
    line("after the first store, model loaded", afterStore),
    line(`at ${FILLED.toLocaleString("en-US")} memories after ${QUESTIONS} questions`, atSize),
    line(`the same ${REST_MS / 1000} seconds later`, atRest),
  ];
}

type Resident = { readonly all: number; readonly own: number };

/** What a process holds in memory, in MB, as Linux counts it. */
function residentMegabytes({ pid }: ServerProcess): Resident {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
  return { all: read("VmRSS"), own: read("RssAnon") };
}
