/**
 * Measures what a text costs each embedding model: `bun scripts/bench/models.ts`. The models run in turns in one process, without
 * anything around them; processor time is compared, which other work on the machine hardly changes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadInference } from "../../src/adapters/embedding/inference.ts";
import { modelRoot } from "../../src/adapters/embedding/model-files.ts";
import { loadUnigram } from "../../src/adapters/embedding/unigram.ts";
import { EMBEDDING_MODELS } from "../../src/domain/embedding-models.ts";
import { processorMs } from "../../test/processor-time.ts";
import { createRandom, sentences } from "./sentences.ts";

const ROUNDS = 60;
/** Sentences of one text. */
const LENGTHS = [1, 3, 10] as const;

const [unigram] = EMBEDDING_MODELS.filter(({ tokenizer }) => tokenizer === "pieces.bin");
if (unigram !== undefined) {
  const pieces = readFileSync(join(modelRoot(unigram), unigram.name, unigram.tokenizer));
  const before = processorMs();
  loadUnigram(pieces);
  console.log(`load of the pieces: ${(processorMs() - before).toFixed(0)} ms of processor time`);
}

const models = await Promise.all(
  EMBEDDING_MODELS.map(async (model) => {
    const root = modelRoot(model);
    return { model, inference: await loadInference({ model, root, threads: 1, maxTokens: 256 }) };
  }),
);
const pool = sentences(createRandom(3), 0, 600);
console.log("| sentences | model | tokens | ms | times the first |\n|---|---|---|---|---|");
for (const length of LENGTHS) {
  const spent = new Map(models.map(({ model }) => [model.name, { ms: 0, tokens: 0 }]));
  for (let round = -5; round < ROUNDS; round += 1) {
    const text = Array.from({ length }, (_, at) => pool[(round + 5 + at * 61) % pool.length]).join(
      " ",
    );
    for (const { model, inference } of models) {
      const before = processorMs();
      await inference.embed(model.documentPrefix + text);
      const sum = spent.get(model.name);
      if (sum === undefined || round < 0) continue;
      sum.ms += (processorMs() - before) / ROUNDS;
      sum.tokens += inference.tokenIds(text).length / ROUNDS;
    }
  }
  const first = [...spent.values()][0]?.ms ?? 1;
  for (const [name, { ms, tokens }] of spent) {
    console.log(
      `| ${length} | ${name} | ${tokens.toFixed(0)} | ${ms.toFixed(1)} | ${(ms / first).toFixed(2)} |`,
    );
  }
}
for (const { inference } of models) await inference.close();
