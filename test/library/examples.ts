import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The TypeScript of a page as one program: each example builds on those before it. */
export function examplesOf(page: string): string {
  const text = readFileSync(join(import.meta.dir, "../..", page), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? "");
  return blocks.join("\n");
}

/** The `./model.js` of docs/frameworks.md: a model that says what it is told to. */
export const EXAMPLE_MODEL = `
import { MockLanguageModelV4 } from "ai/test";

type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
const answer = (
  content: Result["content"][number],
  unified: Result["finishReason"]["unified"],
): Result => ({
  content: [content],
  finishReason: { unified, raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  },
  warnings: [],
});
const input = JSON.stringify({ query: "Where is the spare key?" });
export const model = new MockLanguageModelV4({
  doGenerate: [
    answer({ type: "tool-call", toolCallId: "1", toolName: "memory_retrieve", input }, "tool-calls"),
    answer({ type: "text", text: "It lies under the blue flower pot." }, "stop"),
    answer({ type: "text", text: "Yes, under the blue one." }, "stop"),
  ],
});
`;

/** What each `console.log(...); // text` of a program promises to print. */
export function expectedOutput(program: string): readonly string[] {
  const lines = program.split("\n").filter((line) => line.includes("console.log("));
  const promised = lines.map((line) => /; \/\/ (.*)$/.exec(line)?.[1]);
  const silent = lines.filter((_, index) => promised[index] === undefined);
  if (silent.length > 0) throw new Error(`no output is stated for: ${silent.join("\n")}`);
  return promised.filter((text) => text !== undefined);
}
