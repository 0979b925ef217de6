/**
 * Measures what is true now on sets that no rule was fixed on: `bun scripts/quality/truth.ts [--set unseen-2] [--show]
 * [--model multilingual]`. Changes and look-alikes of a language are one person's, each life is another's. Prints a table in
 * Markdown; --show also lists what went wrong. What is in `unseen-2` is held out: nobody looks at it, or runs it, but to decide.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { shownHits } from "../../src/surface/contract/retrieval/text.ts";

type Change = {
  readonly language: string;
  readonly kind: string;
  readonly said: readonly (readonly ["old" | "same" | "near" | "new", string])[];
  readonly question: string;
};
type LookAlike = {
  readonly language: string;
  readonly kind: string;
  readonly first: string;
  readonly second: string;
  readonly question: string;
};
type LifeRow = { readonly id: string; readonly day: string; readonly text: string } & {
  readonly question: string;
  readonly answers: readonly string[];
  readonly unanswerable: string;
};

/** When the lives are asked about. */
const YEAR_END = "2026-11-27T12:00:00Z";
const { values: flags } = parseArgs({
  options: {
    set: { type: "string", default: "unseen-1" },
    model: { type: "string" },
    show: { type: "boolean", default: false },
  },
});
const data = join(import.meta.dir, "data", flags.set);
const folder = mkdtempSync(join(tmpdir(), "svc-truth-"));
const engine = await MemoryEngine.create({
  pack_path: join(folder, "truth.pack"),
  ...(flags.model === undefined ? {} : { embedding: { model_name: flags.model } }),
});

/** The rows of a set; the first line says what it is. */
function readSet<Row>(name: string): readonly Row[] {
  const lines = readFileSync(join(data, `${name}.jsonl`), "utf8")
    .trim()
    .split("\n");
  return lines.slice(1).map((line) => JSON.parse(line));
}

const measures = new Map<string, { target: string; all: number; wrong: string[] }>();
function count(measure: string, target: string, isWrong: boolean, about: string): void {
  const found = measures.get(measure) ?? { target, all: 0, wrong: [] };
  found.all += 1;
  if (isWrong) found.wrong.push(about);
  measures.set(measure, found);
}

/** What an answer holds: all hits, in order, and what people are told. */
async function ask(userId: string, query: string, referenceTime?: string) {
  const response = await engine.retrieve({ query, userId, referenceTime });
  const { hits, isKnown } = shownHits(response);
  for (const [index, { hit }] of hits.entries()) {
    if (hit.olderThan === undefined) continue;
    const newer = hit.olderThan.nodeId;
    const before = hits.slice(0, index).findLast(({ hit: { olderThan } }) => {
      return olderThan?.nodeId !== newer;
    });
    count(
      "shown as outdated, what outdates it not directly before it",
      "0",
      before?.hit.node.id !== newer,
      `${query} | ${hit.node.content}`,
    );
  }
  const hitsOf = response.results.map(({ node, strength, olderThan }) => ({
    text: node.content,
    isStrong: strength === "strong",
    isMarked: olderThan !== undefined,
  }));
  return { hits: hitsOf, isKnown };
}

/** Stores the texts of all rows round by round, so that others stand between an older and a newer one. */
async function storeRounds(userId: string, rows: readonly (readonly string[])[]): Promise<void> {
  const rounds = Math.max(...rows.map((texts) => texts.length));
  for (let round = 0; round < rounds; round++) {
    for (const texts of rows) {
      const content = texts[round];
      if (content !== undefined) await engine.store({ content, userId });
    }
  }
}

async function measureChanges(): Promise<void> {
  const byLanguage = Map.groupBy(readSet<Change>("changes"), ({ language }) => language);
  for (const [language, changes] of byLanguage) {
    const userId = `changes ${language}`;
    await storeRounds(
      userId,
      changes.map(({ said }) => said.map(([, text]) => text)),
    );
    for (const { kind, said, question } of changes) {
      const { hits } = await ask(userId, question);
      const says = new Map(said.map(([what, text]) => [text, what]));
      const found = hits.filter(({ text }) => says.has(text) && says.get(text) !== "near");
      const order = found.map((hit) => `${says.get(hit.text)} ${hits.indexOf(hit) + 1}`).join(", ");
      const about = `${language} ${kind}: ${question} | ${said.map(([, text]) => text).join(" | ")} | ${order}`;
      const [first] = found;
      if (said.some(([what]) => what === "old")) {
        const isWrong = first === undefined || says.get(first.text) === "old";
        count("changes: outdated first, or nothing found", "at most 10 %", isWrong, about);
      }
      const holds = hits.filter(({ text }) => {
        const what = says.get(text);
        return what === "new" || what === "near" || (what === "same" && kind === "same");
      });
      const marked = holds.filter(({ isMarked }) => isMarked).map(({ text }) => text);
      count(
        "changes: what holds, marked as outdated",
        "at most 3 %",
        marked.length > 0,
        `${about} | ${marked.join(" | ")}`,
      );
    }
  }
}

async function measureLookAlikes(name: string, isReversed: boolean): Promise<void> {
  const byLanguage = Map.groupBy(readSet<LookAlike>("look-alikes"), ({ language }) => language);
  for (const [language, pairs] of byLanguage) {
    const userId = `${name} ${language}`;
    await storeRounds(
      userId,
      pairs.map(({ first, second }) => (isReversed ? [second, first] : [first, second])),
    );
    for (const { kind, first, second, question } of pairs) {
      const { hits } = await ask(userId, question);
      const marked = hits.filter(({ text, isMarked }) => {
        return isMarked && (text === first || text === second);
      });
      const about = `${language} ${kind}: ${question} | ${first} | ${second} | ${marked.map(({ text }) => text).join(" | ")}`;
      const [what, target] =
        kind === "ended" ? ["something else ended", "at most 1 of 24"] : ["others", "at most 3 %"];
      count(`${name}: ${what}, marked as outdated`, target, marked.length > 0, about);
    }
  }
}

async function measureLife(name: string): Promise<void> {
  const rows = readSet<LifeRow>(name);
  const textOf = new Map<string, string>();
  for (const { id, day, text } of rows) {
    if (id === undefined) continue;
    textOf.set(id, text);
    await engine.store({ content: text, userId: name, eventTime: `${day}T18:00:00Z` });
  }
  for (const { question, answers, unanswerable } of rows) {
    if (unanswerable !== undefined) {
      const { hits } = await ask(name, unanswerable, YEAR_END);
      const strong = hits.filter(({ isStrong }) => isStrong).map(({ text }) => text);
      const about = `${unanswerable} | ${strong.join(" | ")}`;
      count(`${name}: unanswerable, with a strong hit`, "at most 15 %", strong.length > 0, about);
    }
    if (question === undefined) continue;
    const right = answers.map((id) => textOf.get(id) ?? id);
    const { hits, isKnown } = await ask(name, question, YEAR_END);
    const place = hits.findIndex(({ text }) => right.includes(text));
    const about = `${question} | ${right.join(" | ")} | place ${place + 1} | first: ${hits[0]?.text}`;
    count(`${name}: right one not first`, "at most 12 %", place !== 0, about);
    const isDenied = !isKnown || hits[place]?.isStrong !== true;
    count(`${name}: nothing known, or the right one weak`, "at most 5 %", isDenied, about);
  }
}

try {
  await measureChanges();
  await measureLookAlikes("look-alikes", false);
  await measureLookAlikes("look-alikes reversed", true);
  const lives = readdirSync(data).filter((file) => file.startsWith("life-"));
  for (const file of lives.toSorted()) await measureLife(file.replace(".jsonl", ""));
  console.log("| measure | wrong | target |\n|---|---|---|");
  for (const [name, { target, all, wrong }] of measures) {
    const share = ((100 * wrong.length) / all).toFixed(1);
    console.log(`| ${name} | ${wrong.length} of ${all} (${share} %) | ${target} |`);
  }
  if (flags.show) {
    for (const [name, { wrong }] of measures) {
      console.log(`\n${name}:`);
      for (const about of wrong) console.log(`- ${about}`);
    }
  }
} finally {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}
