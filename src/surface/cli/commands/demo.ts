import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { Command } from "commander";
import kleur from "kleur";
import { withEncryptionKey } from "../../../config/load.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { inTemporaryFolder } from "../../../packs/through-pack.ts";
import { assistantLines } from "../assistant.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { configWithoutKey, withModel } from "../options.ts";
import { ownerFor } from "../owner.ts";

const EXAMPLES = `
Examples:
  svc demo

Nothing stays behind: the pack lies in a temporary folder and is removed at the end.`;

const SENTENCES = [
  "Anna moved to Lisbon in March and works from a small office near the river.",
  "The spare key lies under the blue flower pot next to the garage.",
  "Anna is allergic to peanuts, so the cake for her birthday must be made without nuts.",
  "We agreed to ship the mobile app on 12 June and to leave the watch app for later.",
  "The mobile app now ships on 3 July instead of 12 June, because the payment tests take longer.",
  "Tom prefers short e-mails in the morning and never reads chat messages before noon.",
  "The staging database was moved to the new cluster; its password is in the team vault.",
  "Our car needs new winter tyres before the trip to the mountains in December.",
];

const QUESTIONS = [
  "How can I get into the house if I locked myself out?",
  "What should I keep in mind when I cook for Anna?",
  "Was the launch of our phone application postponed?",
  "What is the best way to reach Tom early in the day?",
];

/** Asked if the program has a model that reads more than English. */
const FOREIGN_QUESTIONS = ["Unter welchem Topf liegt der Schlüssel?", "¿A qué es alérgica Anna?"];

const SHOWN_RESULTS = 2;

/** `svc demo`: stores real sentences in a throwaway pack and retrieves them with different words. */
export function demoCommand(context: CliContext): Command {
  return new Command("demo")
    .description("store some sentences in a throwaway pack and retrieve them")
    .addHelpText("after", EXAMPLES)
    .action(() => demo(context));
}

async function demo(context: CliContext): Promise<void> {
  const { output } = context;
  await inTemporaryFolder("svc-demo-", async (folder) => {
    const named = configWithoutKey(context, join(folder, "demo.pack"));
    const { includedModels } = await import("../../../app/models.ts");
    const model = includedModels().find(({ isEnglish }) => !isEnglish);
    const questions = model === undefined ? QUESTIONS : [...QUESTIONS, ...FOREIGN_QUESTIONS];
    const key = `raw_key:${randomBytes(32).toString("base64url")}`;
    const config = withEncryptionKey(withModel(named, model?.name), key);
    const run = async (engine: MemoryEngine): Promise<void> => {
      const question = { given: undefined, path: folder, isStoring: true };
      const owner = await ownerFor(context, engine, question);
      await storeAll(context, engine, owner);
      for (const query of questions) await ask(context, engine, owner, query);
    };
    await withEngine(context, config, run, { createIfMissing: true });
  });
  output.line();
  output.line("To give an assistant such a memory, paste one of these:");
  output.line();
  for (const line of assistantLines(resolve("memory.pack"))) output.line(line);
}

async function storeAll(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
): Promise<void> {
  output.line(kleur.bold(`Storing ${SENTENCES.length} sentences (the first one loads the model)`));
  for (const content of SENTENCES) {
    const ms = await timed(() => engine.store({ content, userId }));
    output.line(`  ${duration(ms.ms)}  ${content}`);
  }
}

async function ask(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
  query: string,
): Promise<void> {
  const { value, ms } = await timed(() => engine.retrieve({ query, userId, limit: SHOWN_RESULTS }));
  output.line();
  output.line(kleur.bold(`${query}`) + kleur.dim(`  (${ms.toFixed(0)} ms)`));
  if (value.results.length === 0) output.line("  nothing was found");
  for (const { node } of value.results) output.line(`  -> ${node.content}`);
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now();
  const value = await run();
  return { value, ms: performance.now() - started };
}

function duration(ms: number): string {
  return `${ms.toFixed(0)} ms`.padStart(8);
}
