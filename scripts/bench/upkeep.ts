/**
 * Measures what upkeep beside calls costs them: `bun scripts/bench/upkeep.ts [--memories 20000] [--calls 300] [--write]`. Three servers
 * of the built program on copies of one pack get the same calls, one after the other in changing order: one with upkeep that is
 * always due, two without any. The difference of the latter two is what the machine makes of two equal servers.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openStore } from "./fill.ts";
import { fillDays } from "./fill-days.ts";
import { type Figure, toMarkdown, writePage } from "./report.ts";
import { createRandom, sentence } from "./sentences.ts";
import { endAllServers, type ServerProcess, startServer } from "./server.ts";
import { digits, quantile, timed } from "./stats.ts";

const USER = "bench";
const KINDS = ["store", "ingest", "retrieve"] as const;
type Kind = (typeof KINDS)[number];
const WARM_UP = 20;

/** One call of a kind; its text is the same for each server. */
async function call({ url }: ServerProcess, kind: Kind, serial: number): Promise<void> {
  const content = sentence(createRandom(serial), serial);
  const body =
    kind === "retrieve"
      ? { query: content, user_id: USER }
      : { content, user_id: USER, session_id: `now-${Math.floor(serial / 25)}` };
  const response = await fetch(`${url}/v1/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${kind}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** Milliseconds of the calls of a kind, for each server. */
type Times = Readonly<Record<Kind, readonly number[][]>>;

async function measure(servers: readonly ServerProcess[], calls: number): Promise<Times> {
  const times = {
    store: servers.map((): number[] => []),
    ingest: servers.map((): number[] => []),
    retrieve: servers.map((): number[] => []),
  };
  for (let round = 0; round < WARM_UP + calls; round += 1) {
    for (const [at, kind] of KINDS.entries()) {
      const serial = 1_000_000 + round * KINDS.length + at;
      for (let turn = 0; turn < servers.length; turn += 1) {
        const place = (turn + round) % servers.length;
        const server = servers[place];
        if (server === undefined) continue;
        const ms = await timed(() => call(server, kind, serial));
        if (round >= WARM_UP) times[kind][place]?.push(ms);
      }
    }
  }
  return times;
}

/** What one server took longer than another: the quantile of each, and the quantile of the pairs. */
function delay(one: readonly number[], other: readonly number[], part: number): string {
  const apart = quantile(one, part) - quantile(other, part);
  const paired = quantile(
    one.map((ms, index) => ms - (other[index] ?? 0)),
    part,
  );
  return `${digits(apart)} ms, of pairs ${digits(paired)} ms`;
}

function figuresOf(times: Times): readonly Figure[] {
  return KINDS.flatMap((kind) => {
    const [upkept = [], without = [], again = []] = times[kind];
    return [0.5, 0.99].map((part) => ({
      what: `${kind}, ${part === 0.5 ? "p50" : "p99"} ${digits(quantile(without, part))} ms without upkeep`,
      figure: `with upkeep ${delay(upkept, without, part)} more`,
      ratio: `two without: ${delay(again, without, part)}`,
    }));
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      memories: { type: "string", default: "20000" },
      calls: { type: "string", default: "300" },
      write: { type: "boolean", default: false },
    },
  });
  const [count, calls] = [Number(values.memories), Number(values.calls)];
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-upkeep-"));
  try {
    const filled = join(folder, "year.pack");
    const store = await openStore(filled);
    await fillDays(store, { userId: USER, from: 0, to: count, of: count, days: 365 });
    await store.close();
    const off = { SVC_ORGANIZER__OPPORTUNISTIC_ENABLED: "false" };
    const settings = [{ SVC_ORGANIZER__OPPORTUNISTIC_COOLDOWN: "0" }, off, off];
    const servers: ServerProcess[] = [];
    for (const [index, environment] of settings.entries()) {
      const pack = join(folder, `${index}.pack`);
      copyFileSync(filled, pack);
      servers.push(await startServer({ pack, environment }));
    }
    const times = await measure(servers, calls);
    const [upkept] = servers;
    const changed = upkept === undefined ? 0 : await countChanged(upkept);
    const section = {
      title: "Upkeep beside calls",
      command: `bun scripts/bench/upkeep.ts --memories ${count} --calls ${calls}`,
      notes: [
        `Three servers on copies of a pack with memories of a year get the same calls, one after the other: one with upkeep that is due after each call (by default it is once an hour), which changed ${changed.toLocaleString("en-US")} memories meanwhile, and two without. What the latter two differ by is the noise of the machine.`,
      ],
      figures: figuresOf(times),
    };
    console.log(toMarkdown(section));
    if (values.write) writePage(join(import.meta.dir, "../../docs/performance.md"), [section]);
  } finally {
    await endAllServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Memories that are stable or archived: all were tentative. */
async function countChanged({ url }: ServerProcess): Promise<number> {
  const response = await fetch(`${url}/v1/stats?user_id=${USER}`);
  const { details } = Object(await response.json());
  const { stable = 0, archived = 0 } = details.states;
  return Number(stable) + Number(archived);
}

await main();
