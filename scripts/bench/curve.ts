/**
 * Draws the processor time of a retrieval with 1,000 to 1,000,000 memories of one owner, beside plain sqlite-vec and FTS5:
 * `bun scripts/bench/curve.ts --folder FOLDER [--sizes 1000,10000,100000,1000000] [--questions 30] [--write]`.
 * Packs stay in the folder and are used again, since a million memories take long to make. `--write` puts the picture into
 * docs/pictures/search-curve.svg and the figures into docs/performance.md.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEngine } from "../../src/app/open-engine.ts";
import { loadConfig } from "../../src/config/load.ts";
import { everythingOf } from "../../src/domain/candidate-filter.ts";
import { createVectors, fill, openStore } from "./fill.ts";
import { makeQuestions, type Question } from "./parts/searches.ts";
import { openRawModel, openRawSearch } from "./probe.ts";
import { type Section, toMarkdown, writePage } from "./report.ts";
import { digits, median } from "./stats.ts";

const DOCS = join(import.meta.dir, "../../docs");
const OWNER = "owner-0";
const CANDIDATES = 50;
const WARM_UP = 2;
const COMPILED = 100;
const STEP = 20_000;

type Point = {
  readonly size: number;
  readonly ours: number;
  readonly plain: number;
  readonly scan: number;
  readonly first: number;
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      folder: { type: "string" },
      sizes: { type: "string", default: "1000,10000,100000,1000000" },
      questions: { type: "string", default: "30" },
      write: { type: "boolean", default: false },
    },
  });
  if (values.folder === undefined) throw new Error("--folder: name the folder of the packs");
  mkdirSync(values.folder, { recursive: true });
  const sizes = values.sizes.split(",").map(Number);
  const model = await openRawModel();
  const points: Point[] = [];
  try {
    const questions = await makeQuestions(model, Number(values.questions) + WARM_UP);
    const vectorOf = await createVectors(model);
    for (const size of sizes) {
      const pack = join(values.folder, `curve-${size}.pack`);
      if (!existsSync(pack)) await make(pack, size, vectorOf);
      // The first pack also warms the program up, which compiles what it runs often.
      if (points.length === 0) await measure(pack, size, await makeQuestions(model, COMPILED));
      points.push(await measure(pack, size, questions));
      console.error(JSON.stringify(points.at(-1)));
    }
  } finally {
    await model.close();
  }
  const section = describe(points, values.sizes);
  console.log(toMarkdown(section));
  if (!values.write) return;
  writeFileSync(join(DOCS, "pictures/search-curve.svg"), draw(points));
  writePage(join(DOCS, "performance.md"), [section]);
}

async function make(
  pack: string,
  size: number,
  vectorOf: (serial: number) => Float32Array,
): Promise<void> {
  const store = await openStore(pack);
  for (let from = 0; from < size; from += STEP) {
    await fill(store, OWNER, { from, to: Math.min(size, from + STEP) }, vectorOf);
    console.error(`${size}: ${from}`);
  }
  await store.close();
}

async function measure(pack: string, size: number, questions: readonly Question[]): Promise<Point> {
  const first = await firstQuestion(pack, questions[0]);
  const { config } = loadConfig({ explicit: { pack_path: pack }, environment: {} });
  const engine = await openEngine(config);
  const raw = openRawSearch(pack);
  const times: { ours: number[]; scan: number[]; words: number[] } = {
    ours: [],
    scan: [],
    words: [],
  };
  try {
    for (const [index, { text, vector }] of questions.entries()) {
      const ask = () => engine.retrieve({ query: text, userId: OWNER });
      await ask();
      const scan = await processorTime(() => raw.vector(vector));
      const words = await processorTime(() => raw.text(text));
      const ours = await processorTime(ask);
      if (index < WARM_UP) continue;
      times.scan.push(scan);
      times.words.push(words);
      times.ours.push(ours);
    }
  } finally {
    raw.close();
    await engine.close();
  }
  const scan = median(times.scan);
  return { size, first, scan, ours: median(times.ours), plain: scan + median(times.words) };
}

/** Of the nearest 50 of the first question after an opening, in this process. */
async function firstQuestion(pack: string, question: Question | undefined): Promise<number> {
  if (question === undefined) return 0;
  const store = await openStore(pack);
  try {
    return await processorTime(() =>
      store.searchVectors(question.vector, everythingOf(OWNER), CANDIDATES),
    );
  } finally {
    await store.close();
  }
}

/** Milliseconds of processor time, of all threads: other work on the machine changes them little. */
async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function describe(points: readonly Point[], sizes: string): Section {
  return {
    title: "From a thousand to a million memories",
    command: `bun scripts/bench/curve.ts --folder FOLDER --sizes ${sizes}`,
    notes: [
      "![Processor time of a retrieval by the number of memories, beside plain sqlite-vec and FTS5](pictures/search-curve.svg)",
      `One owner; the whole retrieval of the engine, its question embedded before, and a plain sqlite-vec query on the same vectors in a file of its own, with its default layout, plus a plain FTS5 query on the pack, in turns. Milliseconds are of processor time, of all threads. First: the nearest 50 of the first question after an opening. Vectors are those of 200 real sentences, scattered, for the times alone. Load of the machine meanwhile: ${Math.round(loadavg()[2] ?? 0)} on ${cpus().length} cores.`,
    ],
    figures: points.map(({ size, ours, plain, scan, first }) => ({
      what: `${size.toLocaleString("en-US")} memories: whole retrieval`,
      figure: `p50 ${digits(ours)} ms; first ${digits(first)} ms`,
      ratio: `${digits(ours / plain)} x sqlite-vec and FTS5 (${digits(plain)} ms), ${digits(ours / scan)} x sqlite-vec alone; first ${digits(first / scan)} x`,
    })),
  };
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 400, 70, 190, 20, 50] as const;

/** Both axes are logarithmic. */
function draw(points: readonly Point[]): string {
  const sizes = points.map(({ size }) => Math.log10(size));
  const times = points.flatMap(({ ours, plain }) => [Math.log10(ours), Math.log10(plain)]);
  const [low, high] = [Math.floor(Math.min(...times)), Math.ceil(Math.max(...times))];
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const x = (size: number): number =>
    LEFT + ((Math.log10(size) - least) / (most - least || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (ms: number): number =>
    TOP + ((high - Math.log10(ms)) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const line = (name: string, color: string, of: (point: Point) => number): string => {
    const places = points.map((point) => `${x(point.size).toFixed(1)},${y(of(point)).toFixed(1)}`);
    const last = points.at(-1);
    const label = last === undefined ? "" : text(x(last.size) + 8, y(of(last)) + 4, name, color);
    return `<polyline fill="none" stroke="${color}" stroke-width="2.5" points="${places.join(" ")}"/>${label}`;
  };
  const text = (atX: number, atY: number, words: string, color = "#444", anchor = "start") =>
    `<text x="${atX.toFixed(1)}" y="${atY.toFixed(1)}" fill="${color}" text-anchor="${anchor}">${words}</text>`;
  const rows = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const grid = rows.map(
    (ms) =>
      `<path stroke="#ddd" d="M${LEFT} ${y(ms).toFixed(1)}H${WIDTH - RIGHT}"/>${text(LEFT - 8, y(ms) + 4, `${ms.toLocaleString("en-US")} ms`, "#444", "end")}`,
  );
  const ticks = points.map(({ size }) =>
    text(x(size), HEIGHT - BOTTOM + 20, size.toLocaleString("en-US"), "#444", "middle"),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...grid, ...ticks].join("\n")}
${text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "memories of one owner", "#444", "middle")}
${line("sqlite-vec + FTS5", "#b45309", ({ plain }) => plain)}
${line("a whole retrieval", "#1d4ed8", ({ ours }) => ours)}
</svg>
`;
}

await main();
