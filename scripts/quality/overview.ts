/**
 * Measures the overview of each life of the blind sets, whose labels were written without the rules in view:
 * `bun scripts/quality/overview.ts [--model multilingual] [--show] [--size 10000]`. Prints a table in Markdown; with --size also how long an
 * overview takes among so many memories of one owner.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";

type Labels = {
  readonly life: string;
  readonly instructions: readonly string[];
  readonly preferences: readonly string[];
  readonly outdated: readonly string[];
};
type Said = { readonly id: string; readonly day: string; readonly text: string };

const { values: flags } = parseArgs({
  options: {
    model: { type: "string" },
    show: { type: "boolean", default: false },
    size: { type: "string" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "svc-overview-"));
const engine = await MemoryEngine.create({
  pack_path: join(folder, "overview.pack"),
  ...(flags.model === undefined ? {} : { embedding: { model_name: flags.model } }),
});

function rows<Row>(file: string): readonly Row[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line): Row => JSON.parse(line));
}

console.log("| life | instructions | preferences | outdated, shown | entries | tokens |");
console.log("|---|---|---|---|---|---|");
for (const set of ["unseen-1", "unseen-2"]) {
  const data = join(import.meta.dir, "data", set);
  const labels = join(data, "overview.jsonl");
  if (existsSync(labels)) for (const life of rows<Labels>(labels)) await measure(data, life);
}
if (flags.size !== undefined) await time(Number(flags.size));
await engine.close();
rmSync(folder, { recursive: true });

async function measure(data: string, labels: Labels): Promise<void> {
  const userId = `life-${labels.life}`;
  const ids = new Map<string, string>();
  for (const said of rows<Partial<Said>>(join(data, `${userId}.jsonl`))) {
    if (said.day === undefined || said.text === undefined || said.id === undefined) continue;
    const at = `${said.day}T12:00:00Z`;
    const { nodeId } = await engine.storeWithReceipt({
      ...{ content: said.text, userId, eventTime: at, validFrom: at },
    });
    ids.set(nodeId, said.id);
  }
  const { entries, text, tokens } = await engine.overview({ userId });
  const shown = new Set(entries.map(({ nodeId }) => ids.get(nodeId)));
  const part = (wanted: readonly string[]) => {
    const missing = wanted.filter((id) => !shown.has(id));
    const lacks = missing.length === 0 ? "" : ` (lacks ${missing.join(", ")})`;
    return `${wanted.length - missing.length} of ${wanted.length}${lacks}`;
  };
  const wrong = labels.outdated.filter((id) => shown.has(id));
  const cells = [part(labels.instructions), part(labels.preferences), wrong.join(", ") || "0"];
  console.log(`| ${labels.life} | ${cells.join(" | ")} | ${entries.length} | ${tokens} |`);
  if (flags.show) console.error(`\n${text}\n`);
}

async function time(size: number): Promise<void> {
  const userId = "many";
  const places = ["Leeds", "Bath", "York", "Hull", "Ely"];
  const content = (at: number) => {
    const place = places[at % places.length];
    return at % 20 === 0 ? `I prefer bus ${at} to ${place}.` : `Parcel ${at} went to ${place}.`;
  };
  for (let from = 0; from < size; from += 500) {
    const length = Math.min(500, size - from);
    await engine.ingestFastMany({
      items: Array.from({ length }, (_, at) => ({ content: content(from + at) })),
      userId,
    });
  }
  while ((await engine.processPending({ userId, budgetMs: 60_000 })).pending > 0);
  const times: number[] = [];
  for (let count = 0; count < 200; count += 1) {
    const before = performance.now();
    await engine.overview({ userId });
    times.push(performance.now() - before);
  }
  const [first = Number.NaN] = times;
  times.sort((one, other) => one - other);
  const ms = (at: number) => (times[at] ?? Number.NaN).toFixed(1);
  console.log(
    `\nOf ${size} memories: first ${first.toFixed(0)} ms, p50 ${ms(100)}, p95 ${ms(190)} ms.`,
  );
}
