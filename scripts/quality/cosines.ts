/**
 * Measures how the cosines of the embedding models compare, and what a threshold that fits the default model is for each of the
 * others: `bun scripts/quality/cosines.ts`. Of each model it takes the cosines of texts about one thing and of unrelated ones,
 * memories with memories and questions with memories. The straight line through the means of the two maps its cosines to
 * those of the default model. Only the halves of the sets that are for tuning are read.
 */
import { createLocalEmbedder } from "../../src/adapters/embedding/local-embedder.ts";
import { EMBEDDING_MODELS, type EmbeddingModel } from "../../src/domain/embedding-models.ts";
import { readChanges, readFiller, readPairs, readUnanswerable } from "./sets.ts";

type Spread = { readonly mean: number; readonly low: number; readonly high: number };
/** Cosines of texts about one thing, and of unrelated ones. */
type Cosines = { readonly related: Spread; readonly unrelated: Spread };

const tuning = <T extends { readonly half: string }>(items: readonly T[]): readonly T[] =>
  items.filter(({ half }) => half === "tuning");
const changes = tuning(readChanges());
const pairs = tuning(readPairs());
const unanswerable = tuning(readUnanswerable());
const filler = readFiller().filter((_, index) => index % 4 === 0);

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, low: at(0.05), high: at(0.95) };
}

async function measure(model: EmbeddingModel): Promise<readonly [Cosines, Cosines]> {
  const embedder = createLocalEmbedder({ model });
  const documents = new Map<string, Float32Array>();
  const questions = new Map<string, Float32Array>();
  for (const { first, second, question } of [...changes, ...pairs]) {
    for (const text of [first, second]) documents.set(text, await embedder.embedDocument(text));
    questions.set(question, await embedder.embedQuery(question));
  }
  for (const text of filler) documents.set(text, await embedder.embedDocument(text));
  for (const { question } of unanswerable)
    questions.set(question, await embedder.embedQuery(question));
  await embedder.close();
  const between = (one: Float32Array | undefined, other: Float32Array | undefined): number =>
    one === undefined || other === undefined ? 0 : cosine(one, other);
  const others = filler.map((text) => documents.get(text));
  return [
    {
      related: spreadOf(
        changes.map(({ first, second }) => between(documents.get(first), documents.get(second))),
      ),
      unrelated: spreadOf(
        changes.flatMap(({ second }) =>
          others.map((other) => between(documents.get(second), other)),
        ),
      ),
    },
    {
      related: spreadOf(
        changes.map(({ second, question }) =>
          between(questions.get(question), documents.get(second)),
        ),
      ),
      unrelated: spreadOf(
        unanswerable.flatMap(({ question }) =>
          others.map((other) => between(questions.get(question), other)),
        ),
      ),
    },
  ];
}

/** The line from a model's cosines to those of the default model. */
function lineTo(
  reference: Cosines,
  { related, unrelated }: Cosines,
): { scale: number; shift: number } {
  const scale =
    (reference.related.mean - reference.unrelated.mean) / (related.mean - unrelated.mean);
  return { scale, shift: reference.unrelated.mean - scale * unrelated.mean };
}

const shown = ({ mean, low, high }: Spread): string =>
  `${mean.toFixed(3)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
const measured = await Promise.all(EMBEDDING_MODELS.map(measure));
const [reference] = measured;
console.log(
  "| model | texts | about one thing | unrelated | line to the default model |\n|---|---|---|---|---|",
);
for (const [index, kinds] of measured.entries()) {
  for (const [at, kind] of ["memories", "question and memory"].entries()) {
    const [mine, theirs] = [kinds[at], reference?.[at]];
    if (mine === undefined || theirs === undefined) continue;
    const { scale, shift } = lineTo(theirs, mine);
    console.log(
      `| ${EMBEDDING_MODELS[index]?.name} | ${kind} | ${shown(mine.related)} | ${shown(mine.unrelated)} | ${scale.toFixed(3)} x + ${shift.toFixed(3)} |`,
    );
  }
}
