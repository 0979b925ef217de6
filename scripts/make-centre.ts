/**
 * Measures the common direction of the multilingual model's vectors and writes it to `src/domain/embedding-centre.ts`:
 * `bun scripts/make-centre.ts`. It is the mean over three groups that weigh the same: English talk, talk in other languages, each
 * of which weighs the same, and questions. Other texts give another direction, so that the model's recipe needs another name.
 */
import { join } from "node:path";
import { type Inference, loadInference } from "../src/adapters/embedding/inference.ts";
import { modelRoot } from "../src/adapters/embedding/model-files.ts";
import { findModel } from "../src/domain/embedding-models.ts";
import { readChanges, readPairs, readTalk } from "./quality/sets.ts";

const TARGET = join(import.meta.dir, "../src/domain/embedding-centre.ts");
/** Questions of a language that count. */
const QUESTIONS = 80;

const found = findModel("multilingual");
if (found === undefined) throw new Error("the table has no multilingual model");
const { centre: _measuredBefore, ...model } = found;

type Text = { readonly language: string; readonly text: string };

function mean(vectors: readonly ArrayLike<number>[]): Float64Array {
  const sum = new Float64Array(model.dimension);
  for (const vector of vectors) {
    for (let index = 0; index < sum.length; index += 1) {
      sum[index] = (sum[index] ?? 0) + (vector[index] ?? 0) / vectors.length;
    }
  }
  return sum;
}

/** The mean over the languages of the means of their texts. */
async function meanOf(
  inference: Inference,
  prefix: string,
  texts: readonly Text[],
): Promise<Float64Array> {
  const means: Float64Array[] = [];
  for (const [, own] of Map.groupBy(texts, ({ language }) => language)) {
    const vectors: Float32Array[] = [];
    for (const { text } of own) vectors.push(await inference.embed(prefix + text));
    means.push(mean(vectors));
  }
  return mean(means);
}

const inference = await loadInference({
  model,
  root: modelRoot(model),
  threads: 1,
  maxTokens: 256,
});
const talk = readTalk();
const asked = [...readChanges(), ...readPairs()].map(({ language, question: text }) => ({
  language,
  text,
}));
const questions = [...Map.groupBy(asked, ({ language }) => language).values()].flatMap((own) =>
  own.slice(0, QUESTIONS),
);
const isEnglish = ({ language }: Text): boolean => language === "en";
const centre = mean([
  await meanOf(inference, model.documentPrefix, talk.filter(isEnglish)),
  await meanOf(
    inference,
    model.documentPrefix,
    talk.filter((text) => !isEnglish(text)),
  ),
  await meanOf(inference, model.questionPrefix, questions),
]);
await inference.close();
const text = new Uint8Array(new Float16Array(centre).buffer).toBase64();
await Bun.write(
  TARGET,
  `/** The mean vector of the multilingual model, as 16-bit numbers; made by \`scripts/make-centre.ts\`. */
export const MULTILINGUAL_CENTRE =
  "${text}";
`,
);
console.log(`a mean vector of length ${Math.hypot(...centre).toFixed(4)} was written`);
