/**
 * Measures what the floor takes from questions that have an answer: `bun scripts/quality/floor.ts FILE.json.gz [--conversations N]`.
 * `conversations.ts` says what the file holds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import type { ResultCandidate } from "../../src/engine/retrieve/api.ts";
import { shownHits } from "../../src/surface/contract/retrieval/text.ts";
import { type Conversation, readConversations, remember } from "./conversations.ts";

/** Hits that assistants and people are shown. */
const SHOWN = 10;

const { values: flags, positionals } = parseArgs({
  options: { conversations: { type: "string" } },
  allowPositionals: true,
});
const [path] = positionals;
if (path === undefined) throw new Error("usage: bun scripts/quality/floor.ts FILE.json.gz");
const folder = mkdtempSync(join(tmpdir(), "svc-floor-"));

/** How much of the evidence of one question was found, called weak, and shown. */
type Counts = {
  readonly evidence: number;
  readonly found: number;
  readonly weak: number;
  /** Share of the evidence among the first hits, without and with the floor. */
  readonly without: number;
  readonly within: number;
};

async function count(
  engine: MemoryEngine,
  userId: string,
  asked: Conversation["questions"][number],
) {
  const response = await engine.retrieve({ query: asked.question, userId });
  const { results } = response;
  const evidence = new Set(asked.evidence);
  const isEvidence = ({ node }: ResultCandidate) =>
    evidence.has(String(node.metadata?.["turn_id"]));
  const found = results.filter(isEvidence);
  const share = (hits: readonly ResultCandidate[]) =>
    hits.filter(isEvidence).length / evidence.size;
  return {
    evidence: evidence.size,
    found: found.length,
    weak: found.filter(({ strength }) => strength === "weak").length,
    without: share(results.slice(0, SHOWN)),
    within: share(shownHits(response).hits.map(({ hit }) => hit)),
  };
}

function percent(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
}

function print(counts: readonly Counts[]): void {
  const sum = (name: keyof Counts) => counts.reduce((all, one) => all + one[name], 0);
  const [without, within] = [sum("without"), sum("within")];
  console.log("| measure | value | target |\n|---|---|---|");
  console.log(
    `| questions, evidence, found | ${counts.length}, ${sum("evidence")}, ${sum("found")} | |`,
  );
  console.log(
    `| evidence that is found and called weak | ${percent(sum("weak"), sum("found"))} | at most 10 % |`,
  );
  console.log(
    `| evidence among the first ${SHOWN}, without the floor | ${percent(without, counts.length)} | |`,
  );
  console.log(`| the same with the floor | ${percent(within, counts.length)} | |`);
  console.log(`| lost by the floor | ${percent(without - within, counts.length)} | at most 1 % |`);
}

try {
  const counts: Counts[] = [];
  for (const conversation of await readConversations(path, flags.conversations)) {
    const engine = await MemoryEngine.create({ pack_path: join(folder, `${counts.length}.pack`) });
    try {
      await remember(engine, conversation);
      for (const asked of conversation.questions) {
        if (asked.evidence.length > 0) counts.push(await count(engine, conversation.id, asked));
      }
    } finally {
      await engine.close();
    }
  }
  print(counts);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
