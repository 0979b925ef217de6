/**
 * Measures what a prompt is reminded of: `bun scripts/quality/recall.ts FILE.json.gz [--conversations N]`. Each question of a
 * conversation is asked as a prompt; 300 prompts that need no memory are asked in each, too. `conversations.ts` says what the file holds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { recall } from "../../src/capture/recall.ts";
import { questionOf } from "../../src/capture/texts.ts";
import { type Conversation, readConversations, remember } from "./conversations.ts";
import PROMPTS from "./data/no-memory-prompts.json";

const { values: flags, positionals } = parseArgs({
  options: { conversations: { type: "string" } },
  allowPositionals: true,
});
const [path] = positionals;
if (path === undefined) throw new Error("usage: bun scripts/quality/recall.ts FILE.json.gz");
const folder = mkdtempSync(join(tmpdir(), "svc-recall-"));

/** The ids of the memories that a prompt is shown. */
async function shown(engine: MemoryEngine, user: string, prompt: string) {
  const question = questionOf(prompt);
  if (question === undefined) return [];
  const request = { question, user, project: undefined, session: "", seen: [], tokensLeft: 4000 };
  return (await recall(engine, { ...request, client: "quality" })).ids;
}

async function measure(conversation: Conversation, at: number) {
  const engine = await MemoryEngine.create({ pack_path: join(folder, `${at}.pack`) });
  await remember(engine, conversation);
  const [asked, found, silent] = [conversation.questions.length, { any: 0 }, { count: 0 }];
  for (const { question, evidence } of conversation.questions) {
    const nodes = await Promise.all(
      (await shown(engine, conversation.id, question)).map((id) => engine.getNode(id)),
    );
    const ids = nodes.map((node) => String(node?.metadata?.["turn_id"]));
    if (evidence.some((id) => ids.includes(id))) found.any += 1;
  }
  for (const { text } of PROMPTS) {
    if ((await shown(engine, conversation.id, text)).length === 0) silent.count += 1;
  }
  await engine.close();
  return { asked, found: found.any, prompts: PROMPTS.length, silent: silent.count };
}

const totals = { asked: 0, found: 0, prompts: 0, silent: 0 };
for (const [at, conversation] of (await readConversations(path, flags.conversations)).entries()) {
  const counts = await measure(conversation, at);
  totals.asked += counts.asked;
  totals.found += counts.found;
  totals.prompts += counts.prompts;
  totals.silent += counts.silent;
}
rmSync(folder, { recursive: true, force: true });
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
console.log(`evidence shown for ${share(totals.found, totals.asked)} of ${totals.asked} questions`);
console.log(
  `nothing shown for ${share(totals.silent, totals.prompts)} of ${totals.prompts} prompts`,
);
