/**
 * What it costs to index a text with the stems of other languages: `bun scripts/bench/word-stems.ts [--rounds 40]`. Microseconds of
 * processor time a text, of the analysis alone and with the entry in the index; both ways take turns, and medians are printed.
 */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { snowball } from "../../src/adapters/stemming/stem.ts";
import { analyse } from "../../src/domain/lexical-analysis.ts";
import { ownWords } from "../../src/domain/search/turns.ts";
import { processorMs } from "../../test/processor-time.ts";
import { createRandom, sentences } from "./sentences.ts";
import { median } from "./stats.ts";

const TEXTS = 2000;

const { values } = parseArgs({ options: { rounds: { type: "string", default: "40" } } });

/** The memories of one language, as often as needed. */
function memoriesIn(language: string): readonly string[] {
  const file = join(import.meta.dir, "../quality/data/word-forms.txt");
  const lines = readFileSync(file, "utf8").split("\n");
  const found = lines
    .filter((line) => line.startsWith(`${language} | `))
    .map((line) => line.split(" | ")[1] ?? "");
  return Array.from({ length: TEXTS }, (_, index) => found[index % found.length] ?? "");
}

const WAYS: readonly ((text: string) => readonly string[])[] = [
  (text) => analyse(text),
  (text) => ownWords(text, undefined, snowball),
];

/** Microseconds a text. */
function micros(texts: readonly string[], use: (text: string) => void): number {
  const start = processorMs();
  for (const text of texts) use(text);
  return ((processorMs() - start) * 1000) / texts.length;
}

function indexed(texts: readonly string[], way: (text: string) => readonly string[]): number {
  using database = new Database(":memory:");
  database.run(
    `CREATE VIRTUAL TABLE documents USING fts5 (own, content='', contentless_delete=1,
       tokenize="porter unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'")`,
  );
  const insert = database.query("INSERT INTO documents (rowid, own) VALUES (?, ?)");
  let key = 0;
  return micros(texts, (text) => {
    key += 1;
    insert.run(key, way(text).join(" "));
  });
}

console.log("| texts | analysis before, now | with the entry before, now | ratio |");
console.log("|---|---|---|---|");
for (const language of ["en", "de", "fr", "es", "ru"]) {
  const texts = language === "en" ? sentences(createRandom(1), 0, TEXTS) : memoriesIn(language);
  const alone: number[][] = [[], []];
  const whole: number[][] = [[], []];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [index, way] of WAYS.entries()) {
      alone[index]?.push(micros(texts, (text) => void way(text)));
      whole[index]?.push(indexed(texts, way));
    }
  }
  const [before = [], now = []] = whole;
  const ratio = median(now.map((value, round) => value / (before[round] ?? 1)));
  const shown = [alone, whole].map((pair) => pair.map((all) => median(all).toFixed(1)).join(", "));
  console.log(`| ${[language, ...shown, ratio.toFixed(2)].join(" | ")} |`);
}
