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
import { type Figure, type Section, toMarkdown, writePage } from "./report.ts";
import { createRandom, question, sentence } from "./sentences.ts";
import { endAllServers, type ServerProcess, startServer } from "./server.ts";
import { digits, quantile } from "./stats.ts";

const PAGE = join(import.meta.dir, "../../docs/performance.md");
/** Owners that share the clients. */
const OWNERS = 8;
/** Calls of each kind by one client alone, before the others come. */
const ALONE = 30;
const MIB = 2 ** 20;

const KINDS = ["store", "retrieve", "change"] as const;
type Kind = (typeof KINDS)[number];

/** What the server has acknowledged of one memory. */
type Known = { readonly content: string; state: string };

type Tally = {
  readonly times: Record<Kind, number[]>;
  readonly statuses: Map<number, number>;
  readonly complaints: string[];
  /** By node id. */
  readonly known: Map<string, Known>;
};

function newTally(): Tally {
  return {
    times: { store: [], retrieve: [], change: [] },
    statuses: new Map(),
    complaints: [],
    known: new Map(),
  };
}

/** One client: owns the memories that it makes, so that it knows what state each must be in. */
class LoadClient {
  readonly #url: string;
  readonly #owner: string;
  readonly #tally: Tally;
  readonly #random: () => number;
  /** Ids of its own memories that are still tentative. */
  readonly #fresh: string[] = [];
  #turn = 0;

  constructor(url: string, index: number, tally: Tally) {
    this.#url = url;
    this.#owner = `owner-${index % OWNERS}`;
    this.#tally = tally;
    this.#random = createRandom(index + 1);
  }

  /** The next call of a fixed mix: nine stores, seven questions and four changes in twenty. */
  async next(): Promise<void> {
    const place = (this.#turn * 7) % 20;
    this.#turn += 1;
    if (place >= 9 && place < 16) await this.retrieve();
    else if (place >= 16 && this.#fresh.length >= 2) await this.change();
    else await this.store();
  }

  async store(): Promise<void> {
    const content = `${sentence(this.#random, this.#turn)} (${crypto.randomUUID()})`;
    const answer = await this.#call("store", "POST", "/v1/store", {
      content,
      user_id: this.#owner,
      node_type: this.#turn % 3 === 0 ? "fact" : "note",
      session_id: this.#turn % 2 === 0 ? `session-${this.#turn % 5}` : null,
    });
    if (answer === undefined) return;
    const id = String(answer["node_id"]);
    this.#tally.known.set(id, { content, state: "tentative" });
    this.#fresh.push(id);
  }

  async retrieve(): Promise<void> {
    await this.#call("retrieve", "POST", "/v1/retrieve", {
      query: question(this.#random),
      user_id: this.#owner,
    });
  }

  /** One of six changes that the state of the memory allows. */
  async change(): Promise<void> {
    const [first, second] = [this.#fresh.shift(), this.#fresh.shift()];
    if (first === undefined || second === undefined) return;
    const path = `/v1/nodes/${first}`;
    switch (this.#turn % 6) {
      case 0:
        await this.#transition(first, "promote", "stable");
        break;
      case 1:
        await this.#transition(first, "archive", "archived");
        break;
      case 2:
        await this.#call("change", "PUT", `${path}/reinforce`, {});
        break;
      case 3:
        await this.#replace(first, second);
        break;
      default:
        await this.#settle(first, second);
    }
    if (this.#turn % 6 <= 2) this.#fresh.push(second);
  }

  async #transition(id: string, step: string, state: string): Promise<void> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const path = `/v1/nodes/${id}/${step}`;
    const done = await this.#call("change", "PUT", path, undefined, headers);
    if (done !== undefined) this.#expect(id, state);
  }

  async #replace(old: string, next: string): Promise<void> {
    const pair = { old_node_id: old, new_node_id: next };
    const done = await this.#call("change", "POST", "/v1/supersedences", pair);
    if (done !== undefined) this.#expect(old, "superseded");
  }

  async #settle(winner: string, loser: string): Promise<void> {
    const claims = { node_a_id: winner, node_b_id: loser };
    const marked = await this.#call("change", "POST", "/v1/contradictions", claims);
    if (marked === undefined) return;
    this.#expect(winner, "contested");
    this.#expect(loser, "contested");
    const outcome = { winner_id: winner, loser_id: loser };
    const done = await this.#call("change", "POST", "/v1/contradictions/resolve", outcome);
    if (done === undefined) return;
    this.#expect(winner, "stable");
    this.#expect(loser, "deprecated");
  }

  #expect(id: string, state: string): void {
    const known = this.#tally.known.get(id);
    if (known !== undefined) known.state = state;
  }

  async #call(
    kind: Kind,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown> | undefined> {
    const { times, statuses, complaints } = this.#tally;
    const start = performance.now();
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: { ...(body && { "content-type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer: Record<string, unknown> = Object(await response.json());
      times[kind].push(performance.now() - start);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.ok) return answer;
      complaints.push(`${method} ${path}: ${response.status} ${String(answer["detail"])}`);
    } catch (error) {
      complaints.push(`${method} ${path}: ${error instanceof Error ? error.message : error}`);
    }
    return undefined;
  }
}

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

/** What is not there as it was acknowledged. */
async function missing(url: string, known: ReadonlyMap<string, Known>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [id, { content, state }] of known) {
    const response = await fetch(`${url}/v1/nodes/${id}`);
    const node: Record<string, unknown> = Object(await response.json());
    if (node["content"] !== content) wrong.push(`${id} is gone`);
    else if (node["lifecycle_state"] !== state) {
      wrong.push(`${id} is ${String(node["lifecycle_state"])}, acknowledged as ${state}`);
    }
  }
  return wrong;
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
    const { statuses, complaints } = load.tally;
    const counted = [...statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
    const section: Section = {
      title: "Load",
      command: `bun scripts/bench/load.ts --clients ${clients} --seconds ${seconds}`,
      notes: [
        `${clients} clients of ${OWNERS} owners at once, nine stores, seven questions and four lifecycle changes in twenty calls. ` +
          `Answers by status: ${counted}. Refused or failed: ${complaints.length}. After kill -9 and a new start, of ` +
          `${known.size} acknowledged memories ${lost.length} were missing or in another state.`,
      ],
      figures: figuresOf(load, alone),
    };
    console.log(toMarkdown(section));
    const wrong = [...alone.complaints, ...complaints, ...lost];
    for (const line of wrong.slice(0, 20)) console.error(line);
    if (wrong.length > 0) process.exitCode = 1;
    else if (values.write) writePage(PAGE, [section]);
  } finally {
    await endAllServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
