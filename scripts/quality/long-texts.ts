/**
 * Where the right memory stands when what is asked stands late: `bun scripts/quality/long-texts.ts`. Twenty texts of 3,000 words have
 * one sentence in their last tenth that answers a question in other words; twenty questions stand behind, or before, 2,000 characters
 * of a pasted log. Everything is one owner's, with forty short memories beside it. Printed are the ranks, and how many are at most 3.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { createRandom } from "../bench/sentences.ts";

const OWNER = "ada";
const WORDS = 3000;
const LOG_CHARS = 2000;
const FIRST = 3;

type Line = { readonly filler: string; readonly answer: string; readonly question: string };

const LINES: readonly Line[] = readFileSync(join(import.meta.dir, "data/long-texts.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [filler = "", answer = "", question = ""] = line.split(" | ");
    return { filler, answer, question };
  });
const random = createRandom(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/** A report about one project in sentences that any project could have, with the answer in the last tenth. */
function longText({ filler, answer }: Line): string {
  const sentences: string[] = [];
  let words = 0;
  while (words < WORDS) {
    const sentence = `${pick(["In the meeting", "On the next day", "As agreed", "Later", "After lunch", "Before the review"])} ${pick(["the team", "everybody", "the group", "two of us", "the guests"])} ${pick(["talked about", "went through", "wrote down", "looked again at", "could not agree on"])} ${pick(filler.split(", "))} and ${pick(["the plan for spring", "what was left open", "the list of last week", "the notes of the others", "how it had gone before"])}.`;
    sentences.push(sentence);
    words += sentence.split(" ").length;
  }
  sentences.splice(Math.floor(sentences.length * (0.91 + random() * 0.08)), 0, answer);
  return sentences.join(" ");
}

function log(): string {
  let text = "";
  for (let second = 0; text.length < LOG_CHARS; second += 1) {
    text += `2026-11-${10 + (second % 9)}T08:${10 + (second % 40)}:${10 + (second % 50)}Z ${pick(["INFO", "WARN", "ERROR", "DEBUG"])} [worker-${second % 5}] ${pick(["connection to upstream reset", "request took too long", "cache was rebuilt", "retry of the job scheduled", "the queue has pending items", "user session has expired"])} id=${Math.floor(random() * 1e9).toString(16)}\n`;
  }
  return text.slice(0, LOG_CHARS);
}

/** @returns the rank of each right memory; 99 if it is not there */
async function ranks(
  engine: MemoryEngine,
  texts: readonly string[],
  question: (line: Line) => string,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const [at, line] of LINES.entries()) {
    const { results } = await engine.retrieve({ query: question(line), userId: OWNER, limit: 98 });
    const place = results.findIndex(({ node }) => node.content === texts[at]);
    found.push(place === -1 ? 99 : place + 1);
  }
  return found;
}

function print(what: string, found: readonly number[]): void {
  const sorted = found.toSorted((a, b) => a - b);
  const good = found.filter((rank) => rank <= FIRST).length;
  console.log(
    `| ${what} | ${good} of ${found.length} | ${sorted[found.length / 2]} | ${sorted.at(-1)} | ${found.join(" ")} |`,
  );
}

const folder = mkdtempSync(join(tmpdir(), "svc-long-texts-"));
try {
  console.log("| what | at most 3 | median | worst | all |\n|---|---|---|---|---|");
  const store = async (name: string, texts: readonly string[]): Promise<MemoryEngine> => {
    const engine = await MemoryEngine.create({ pack_path: join(folder, name) });
    for (const content of texts) await engine.store({ content, userId: OWNER });
    return engine;
  };
  const others = LINES.flatMap(({ filler }) => [
    `We should look into ${filler}.`,
    `Notes about ${filler.split(", ")[0]} are in the folder.`,
  ]);
  const long = LINES.map(longText);
  const texts = await store("texts.pack", [...others, ...long]);
  print("late in a text", await ranks(texts, long, ({ question }) => question));
  await texts.close();
  const short = LINES.map(({ answer }) => answer);
  const notes = await store("notes.pack", [...others, ...short]);
  print("alone", await ranks(notes, short, ({ question }) => question));
  print("behind a log", await ranks(notes, short, ({ question }) => `${log()}\n${question}`));
  print(
    "behind a log, with thanks",
    await ranks(notes, short, ({ question }) => `${log()}\n${question} Thanks!`),
  );
  print("before a log", await ranks(notes, short, ({ question }) => `${question}\n${log()}`));
  print(
    "behind a text",
    await ranks(
      notes,
      short,
      ({ question, filler }) => `${filler.repeat(30).slice(0, 2000)}\n\n${question}`,
    ),
  );
  await notes.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
