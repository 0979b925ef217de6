/**
 * Measures what a prompt is reminded of: `bun scripts/quality/recall.ts FILE.json.gz [--conversations N] [--words]`. Each question of a
 * conversation is asked as a prompt; 300 prompts that need no memory are asked in each, too. `conversations.ts` says what the file holds.
 * `--words`: as where no process serves the pack.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { recall } from "../../src/capture/recall.ts";
import { questionOf } from "../../src/capture/texts.ts";
import { recallFrom } from "../../src/process/hook-words.ts";
import { type Conversation, readConversations, remember } from "./conversations.ts";
import PROMPTS from "./data/no-memory-prompts.json";

const { values: flags, positionals } = parseArgs({
  options: { conversations: { type: "string" }, words: { type: "boolean", default: false } },
  allowPositionals: true,
});
const [path] = positionals;
if (path === undefined) throw new Error("usage: bun scripts/quality/recall.ts FILE.json.gz");
const folder = mkdtempSync(join(tmpdir(), "svc-recall-"));

type Opened = { readonly engine: MemoryEngine; readonly pack: string };

/** The ids of the memories that a prompt is shown. */
async function shown({ engine, pack }: Opened, user: string, prompt: string) {
  const question = questionOf(prompt);
  if (question === undefined) return [];
  const asked = { question, user, project: undefined, session: "", seen: [], tokensLeft: 4000 };
  const request = { ...asked, client: "quality" };
  return (await (flags.words ? recallFrom(pack, request) : recall(engine, request))).ids;
}

async function measure(conversation: Conversation, at: number) {
  const pack = join(folder, `${at}.pack`);
  const engine = await MemoryEngine.create({ pack_path: pack });
  const opened = { engine, pack };
  await remember(engine, conversation);
  const [asked, found, silent] = [conversation.questions.length, { any: 0 }, { count: 0 }];
  for (const { question, evidence } of conversation.questions) {
    const nodes = await Promise.all(
      (await shown(opened, conversation.id, question)).map((id) => engine.getNode(id)),
    );
    const ids = nodes.map((node) => String(node?.metadata?.["turn_id"]));
    if (evidence.some((id) => ids.includes(id))) found.any += 1;
  }
  for (const { text } of PROMPTS) {
    if ((await shown(opened, conversation.id, text)).length === 0) silent.count += 1;
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
