import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The TypeScript of docs/library.md as one program: each example builds on those before it. */
export function libraryExamples(): string {
  const page = readFileSync(join(import.meta.dir, "../../docs/library.md"), "utf8");
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? "");
  return blocks.join("\n");
}

/** What each `console.log(...); // text` of a program promises to print. */
export function expectedOutput(program: string): readonly string[] {
  const lines = program.split("\n").filter((line) => line.includes("console.log("));
  const promised = lines.map((line) => /; \/\/ (.*)$/.exec(line)?.[1]);
  const silent = lines.filter((_, index) => promised[index] === undefined);
  if (silent.length > 0) throw new Error(`no output is stated for: ${silent.join("\n")}`);
  return promised.filter((text) => text !== undefined);
}
