/**
 * Measures what the floor takes from questions that have an answer: `bun scripts/quality/floor.ts FILE.json.gz [--conversations N]`.
 * The file holds conversations: `{conversations: [{id, sessions: [{id, time, turns: [{id, role, speaker, text}]}],
 * questions: [{question, evidence: [turn id]}]}]}`. None is part of this repository.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { ROLES } from "../../src/domain/enums.ts";
import type { ResultCandidate } from "../../src/engine/retrieve/api.ts";
import { shownHits } from "../../src/surface/contract/retrieval/hits.ts";

/** Hits that assistants and people are shown. */
const SHOWN = 10;
/** Texts that are admitted in one call. */
const BATCH = 500;

const CONVERSATIONS = z.object({
  conversations: z.array(
    z.object({
      id: z.string(),
      sessions: z.array(
        z.object({
          id: z.string(),
          time: z.string().nullish(),
          turns: z.array(
            z.object({
              id: z.string(),
              role: z.enum(ROLES),
              speaker: z.string().nullish(),
              text: z.string(),
            }),
          ),
        }),
      ),
      questions: z.array(z.object({ question: z.string(), evidence: z.array(z.string()) })),
    }),
  ),
});
type Conversation = z.infer<typeof CONVERSATIONS>["conversations"][number];

const { values: flags, positionals } = parseArgs({
  options: { conversations: { type: "string" } },
  allowPositionals: true,
});
const [path] = positionals;
if (path === undefined) throw new Error("usage: bun scripts/quality/floor.ts FILE.json.gz");
const folder = mkdtempSync(join(tmpdir(), "svc-floor-"));

async function remember(engine: MemoryEngine, { id: userId, sessions }: Conversation) {
  const items = sessions.flatMap((session) =>
    session.turns.map(({ id, role, speaker, text }) => ({
      content: text,
      role,
      speaker,
      sessionId: session.id,
      eventTime: session.time,
      metadata: { turn_id: id },
    })),
  );
  for (let at = 0; at < items.length; at += BATCH) {
    await engine.ingestFastMany({ userId, items: items.slice(at, at + BATCH) });
  }
  for (let pending = 1; pending > 0; ) {
    const work = await engine.processPending({ userId });
    if (work.failed > 0) throw new Error(`${work.failed} texts could not be indexed`);
    ({ pending } = work);
  }
}

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
  const { results } = await engine.retrieve({ query: asked.question, userId });
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
    within: share(shownHits(results).hits.map(({ hit }) => hit)),
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
  const bytes = Bun.gunzipSync(await Bun.file(path).bytes());
  const { conversations } = CONVERSATIONS.parse(JSON.parse(new TextDecoder().decode(bytes)));
  const counts: Counts[] = [];
  for (const conversation of conversations.slice(
    0,
    Number(flags.conversations ?? conversations.length),
  )) {
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
