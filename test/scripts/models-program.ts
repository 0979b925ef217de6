/** Asks the opt-in models and prints what they say. Arguments: a model's folder, an address of a model provider. */
import { createLanguageModel } from "../../src/adapters/language-model/create-language-model.ts";
import { createLocalReranker } from "../../src/adapters/rerank/local-reranker.ts";

const [, , folder = "", baseUrl = ""] = process.argv;
const reranker = createLocalReranker({ model: folder });
const signal = new AbortController().signal;
const scores = await reranker.score("ann tea", ["ann likes tea", "bob"], signal);
await reranker.close();

const model = createLanguageModel({ provider: "ollama", model: "test-model", baseUrl });
const answer = await model.answer({
  system: "system",
  prompt: "prompt",
  schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  timeoutMs: 10_000,
  schemaRetries: 0,
  temperature: 0,
});

const bunfs = import.meta.path.startsWith("/$bunfs/");
console.log(JSON.stringify({ scores, answer, bunfs }));
