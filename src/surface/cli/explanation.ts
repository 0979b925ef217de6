import kleur from "kleur";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { fields } from "./output.ts";

export type Explanation = NonNullable<Awaited<ReturnType<MemoryEngine["explain"]>>>;
type Explained = Explanation["inContext"][number];
type Excluded = Explanation["notInContext"][number];
type Reason = Excluded["reason"];

/** Digits from the end of an id that are shown at least; the beginning of an id is its time, which neighbours share. */
const LEAST_DIGITS = 8;

/** An explanation for a person: one line for each fact, ids as short as they can be told apart. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const name = shortNames(namedIds(explanation));
  const { inContext, notInContext } = explanation;
  return [
    ...fields(headFields(explanation)),
    ...explanation.notes.map((note) => `Note: ${note}`),
    "",
    kleur.bold(`In the context, in its order: ${inContext.length}`),
    ...inContext.flatMap((record) => recordLines(record, name)),
    "",
    kleur.bold(`Not in the context: ${notInContext.length}`),
    ...notInContext.map((item) => exclusionLine(item, name)),
  ];
}

function headFields(explanation: Explanation): [string, string][] {
  const { searches, filters, tokensUsed, tokensAvailable } = explanation;
  return [
    ["Question", oneLine(explanation.query)],
    ["Taken as", explanation.intent],
    ["Owner", oneLine(explanation.userId)],
    ["Request", explanation.requestId],
    ["Answered", explanation.createdAt],
    ["As of", explanation.referenceTime],
    ["Restricted to", filters.length === 0 ? "nothing" : filters.join("; ")],
    ["Searches", searches.map(searchText).join(", ")],
    ["Tokens", `${tokensUsed} of ${tokensAvailable}`],
  ];
}

function searchText({ name, found, failure }: Explanation["searches"][number]): string {
  return failure === undefined ? `${name} ${found}` : `${name} failed (${failure})`;
}

function recordLines(record: Explained, name: (id: Uuid) => string): readonly string[] {
  const { place, nodeId, section, rank, score, representation, tokenCost, reasons } = record;
  const facts = `${section}, rank ${rank}, score ${score.toFixed(4)}, ${representation}, ${tokenCost} tokens`;
  return [
    `${String(place).padStart(4)}  ${name(nodeId)}  ${facts}`,
    ...reasons.map((reason) => `        ${reasonText(reason, name)}`),
  ];
}

function exclusionLine(
  { nodeId, rank, score, reason }: Excluded,
  name: (id: Uuid) => string,
): string {
  const facts = [
    rank === undefined ? [] : `rank ${rank}`,
    score === undefined ? [] : `score ${score.toFixed(4)}`,
  ].flat();
  const before = facts.length === 0 ? "" : `${facts.join(", ")}: `;
  return `      ${name(nodeId)}  ${before}${reasonText(reason, name)}`;
}

function reasonText({ text, memory }: Reason, name: (id: Uuid) => string): string {
  return memory === undefined ? text : `${text} ${name(memory)}`;
}

function namedIds({ inContext, notInContext }: Explanation): ReadonlySet<Uuid> {
  const reasons = [
    ...inContext.flatMap((record) => record.reasons),
    ...notInContext.map((item) => item.reason),
  ];
  return new Set([
    ...[...inContext, ...notInContext].map(({ nodeId }) => nodeId),
    ...reasons.flatMap(({ memory }) => memory ?? []),
  ]);
}

/** Names ids by their last digits, as many as tell all of them apart. */
function shortNames(ids: ReadonlySet<Uuid>): (id: Uuid) => string {
  const bare = [...ids].map((id) => id.replaceAll("-", ""));
  let digits = LEAST_DIGITS;
  while (new Set(bare.map((id) => id.slice(-digits))).size < bare.length) digits += 1;
  return (id) => `…${id.replaceAll("-", "").slice(-digits)}`;
}

/** Text of whoever asked, which may hold anything, as one line that cannot steer a terminal. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/\p{C}/gu, "�").trim();
}

/** An explanation as JSON, with complete ids. */
export function explanationToJson(explanation: Explanation): Record<string, unknown> {
  return {
    request_id: explanation.requestId,
    user_id: explanation.userId,
    query: explanation.query,
    intent: explanation.intent,
    reference_time: explanation.referenceTime,
    created_at: explanation.createdAt,
    filters: explanation.filters,
    searches: explanation.searches.map(({ name, found, failure }) => ({
      name,
      found,
      failure: failure ?? null,
    })),
    notes: explanation.notes,
    tokens_used: explanation.tokensUsed,
    tokens_available: explanation.tokensAvailable,
    in_context: explanation.inContext.map((record) => ({
      place: record.place,
      node_id: record.nodeId,
      section: record.section,
      rank: record.rank,
      score: record.score,
      representation: record.representation,
      token_cost: record.tokenCost,
      reasons: record.reasons.map(reasonToJson),
    })),
    not_in_context: explanation.notInContext.map((item) => ({
      node_id: item.nodeId,
      stage: item.stage,
      code: item.code,
      rank: item.rank ?? null,
      score: item.score ?? null,
      reason: reasonToJson(item.reason),
    })),
  };
}

function reasonToJson({ text, memory }: Reason): Record<string, unknown> {
  return { text, node_id: memory ?? null };
}
