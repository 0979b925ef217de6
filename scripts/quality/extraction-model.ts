import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelProvider } from "../../src/adapters/language-model/create-language-model.ts";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { isFirstPerson } from "../../src/domain/extraction/cues.ts";
import {
  type DropCounts,
  DropTally,
  type ExtractedClaim,
  resultForm,
} from "../../src/domain/extraction/result.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { Conversation, SetClaim, SetTurn } from "./extraction-set.ts";

/** What a model and the pipeline make of conversations. */
export type Measured = {
  readonly turns: number;
  readonly failedTurns: number;
  /** Claims that are believed, and those of them that the set has. */
  readonly kept: number;
  readonly right: number;
  /** Claims of the set, and those of them that are found. */
  readonly expected: number;
  readonly found: number;
  /** Memories of the pack that were replaced and that the set does not give up. */
  readonly wrongRetirements: number;
  /** Memories of the pack that say of the speaker what the set says of somebody else. */
  readonly wrongOwner: number;
  readonly drops: DropCounts;
  /** As the provider counts them; characters by four where it does not. */
  readonly tokens: number;
  readonly calls: number;
  readonly wrongClaims: readonly string[];
};

/** Who is asked. */
export type AskedModel = {
  readonly provider: LanguageModelProvider;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
};

const CHARACTERS_PER_TOKEN = 4;
const BATCH_TIMEOUT_SECONDS = 180;

/** Ingests conversations into a pack of their own with a model, each with an owner of its own, and counts what came of them. */
export async function askAbout(
  { provider, model, apiKey, baseUrl }: AskedModel,
  conversations: readonly Conversation[],
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "svc-quality-"));
  const calls = countCalls();
  const engine = await MemoryEngine.create({
    pack_path: join(folder, "quality.pack"),
    extraction: {
      provider,
      model,
      batch_timeout: BATCH_TIMEOUT_SECONDS,
      ...(apiKey !== undefined && { api_key: apiKey }),
      ...(baseUrl !== undefined && { base_url: baseUrl }),
    },
  });
  const sums = new Sums();
  try {
    for (const conversation of conversations) await measure(engine, conversation, sums);
    return { ...sums.counts, ...calls.counts(), drops: sums.tally.counts };
  } finally {
    await engine.close();
    calls.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Sums {
  readonly tally = new DropTally();
  readonly counts = {
    turns: 0,
    failedTurns: 0,
    kept: 0,
    right: 0,
    expected: 0,
    found: 0,
    wrongRetirements: 0,
    wrongOwner: 0,
    wrongClaims: [] as string[],
  };
}

async function measure(
  engine: MemoryEngine,
  { name, turns }: Conversation,
  { counts, tally }: Sums,
): Promise<void> {
  const messages = turns.map(({ role, speaker, content }) => ({
    content,
    role,
    speaker,
    ...(role === "user" && speaker === undefined && { firstPersonOwner: true }),
  }));
  const ids = await engine.ingestBatch({ messages, userId: name, sessionId: name });
  while ((await engine.processExtractions({ userId: name })).processed > 0);
  counts.turns += turns.length;
  for (const [index, said] of turns.entries()) {
    counts.expected += said.right.length;
    const record = await engine.getExtraction(ids[index] ?? "", name);
    if (record === undefined) {
      counts.failedTurns += 1;
      continue;
    }
    // SAFETY: what a record counts are drop reasons.
    tally.addAll((record.dropped ?? {}) as DropCounts);
    countClaims(counts, said, resultForm.read(record.result, "result").claims);
  }
  const lifecycleStates = ["tentative", "stable", "contested", "superseded"] as const;
  const nodes = await engine.queryNodes({ userId: name, lifecycleStates, limit: 1000 });
  countMemories(counts, turns, nodes);
}

function countClaims(
  counts: Sums["counts"],
  { content, right }: SetTurn,
  claims: readonly ExtractedClaim[],
): void {
  counts.kept += claims.length;
  counts.found += right.filter((one) => claims.some((claim) => isSame(claim, one))).length;
  for (const claim of claims) {
    const { subject, predicate, object, polarity } = claim;
    if (right.some((one) => isSame(claim, one))) counts.right += 1;
    else
      counts.wrongClaims.push(
        `${subject} | ${predicate} | ${object} (${polarity}) of "${content}"`,
      );
  }
}

/** What of the pack is retired without reason, or is said of the wrong person. */
function countMemories(
  counts: Sums["counts"],
  turns: readonly SetTurn[],
  nodes: readonly MemoryNode[],
): void {
  const right = turns.flatMap((turn) => turn.right);
  const claims = nodes.filter(({ metadata }) => typeof metadata?.["predicate"] === "string");
  for (const { metadata = {}, lifecycleState, supersededBy } of claims) {
    const [subject, object] = [String(metadata["subject"]), String(metadata["object"])];
    const newer = claims.find(({ id }) => id === supersededBy);
    const isRepeated = newer !== undefined && isText(String(newer.metadata?.["object"]), object);
    const isGivenUp = right.some(
      ({ replacesObject, polarity, object: other }) =>
        isText(replacesObject ?? "", object) || (polarity === "negative" && isText(other, object)),
    );
    if (lifecycleState === "superseded" && !isRepeated && !isGivenUp) counts.wrongRetirements += 1;
    const same = right.filter((one) => isText(one.object, object));
    const isOther = same.length > 0 && same.every((one) => !isFirstPerson(one.subject));
    if (isFirstPerson(subject) && isOther) counts.wrongOwner += 1;
  }
}

function isSame(claim: ExtractedClaim, right: SetClaim): boolean {
  const isSelf = isFirstPerson(claim.subject) && isFirstPerson(right.subject);
  return (
    (isSelf || isText(claim.subject, right.subject)) &&
    isText(claim.object, right.object) &&
    claim.polarity === right.polarity
  );
}

/** Whether two texts are the same but for their ends: models copy more or fewer words. */
function isText(one: string, other: string): boolean {
  const [a, b] = [one.trim().toLowerCase(), other.trim().toLowerCase()];
  return a !== "" && b !== "" && (a.includes(b) || b.includes(a));
}

/** Counts requests of this process and their tokens. */
function countCalls() {
  const original = globalThis.fetch;
  let calls = 0;
  let tokens = 0;
  const counting = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const response = await original(input, init);
    calls += 1;
    const text = await response.clone().text();
    const sent = typeof init?.body === "string" ? init.body.length : 0;
    tokens += usageIn(text) ?? (sent + text.length) / CHARACTERS_PER_TOKEN;
    return response;
  };
  globalThis.fetch = Object.assign(counting, { preconnect: original.preconnect });
  return {
    counts: () => ({ calls, tokens }),
    stop: () => {
      globalThis.fetch = original;
    },
  };
}

/** Tokens in and out, as the answer of a provider has them. */
function usageIn(answer: string): number | undefined {
  const of = (name: string): number =>
    Number(new RegExp(`"${name}"\\s*:\\s*(\\d+)`).exec(answer)?.[1] ?? 0);
  const sum = of("total_tokens") || of("input_tokens") + of("output_tokens");
  return sum === 0 ? undefined : sum;
}
