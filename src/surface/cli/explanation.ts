import kleur from "kleur";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { fields, oneLine, shortened } from "./output.ts";

export type Explanation = NonNullable<Awaited<ReturnType<MemoryEngine["explain"]>>>;
type Explained = Explanation["inContext"][number];
type Excluded = Explanation["notInContext"][number];
type Reason = Excluded["reason"];

/** Minimum digits shown from the end of an id; the start of an id is its time, which neighbours share. */
const LEAST_DIGITS = 8;

/** Characters of a memory. */
const SHOWN_CHARS = 100;

/** The texts of memories that still exist, by id. */
export type Texts = ReadonlyMap<Uuid, string>;

/** The memories that an explanation lists. */
export function listedIds({ inContext, notInContext }: Explanation): readonly Uuid[] {
  return [...new Set([...inContext, ...notInContext].map(({ nodeId }) => nodeId))];
}

/** An explanation for a person: one line per fact, texts cut to a line, ids as short as they stay distinct. */
export function explanationLines(explanation: Explanation, texts: Texts): readonly string[] {
  const name = shortNames(namedIds(explanation));
  const { inContext, notInContext } = explanation;
  return [
    ...fields(headFields(explanation)),
    ...explanation.notes.map((note) => `Note: ${note}`),
    "",
    kleur.bold(`In the context, in its order: ${inContext.length}`),
    ...inContext.flatMap((record) => recordLines(record, name, texts)),
    "",
    kleur.bold(`Not in the context: ${notInContext.length}`),
    ...notInContext.flatMap((item) => [
      exclusionLine(item, name),
      `        ${textLine(item.nodeId, texts)}`,
    ]),
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

function textLine(id: Uuid, texts: Texts): string {
  const text = texts.get(id);
  return text === undefined ? "(no longer in this pack)" : `"${shortened(text, SHOWN_CHARS)}"`;
}

function recordLines(
  record: Explained,
  name: (id: Uuid) => string,
  texts: Texts,
): readonly string[] {
  const { place, nodeId, section, rank, score, representation, tokenCost, reasons } = record;
  const facts = `${section}, rank ${rank}, score ${score.toFixed(4)}, ${representation}, ${tokenCost} tokens`;
  return [
    `${String(place).padStart(4)}  ${name(nodeId)}  ${facts}`,
    `        ${textLine(nodeId, texts)}`,
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

function namedIds(explanation: Explanation): ReadonlySet<Uuid> {
  const { inContext, notInContext } = explanation;
  const reasons = [
    ...inContext.flatMap((record) => record.reasons),
    ...notInContext.map((item) => item.reason),
  ];
  return new Set([...listedIds(explanation), ...reasons.flatMap(({ memory }) => memory ?? [])]);
}

/** Names ids by their last digits, as many as needed to keep them distinct. */
function shortNames(ids: ReadonlySet<Uuid>): (id: Uuid) => string {
  const bare = [...ids].map((id) => id.replaceAll("-", ""));
  let digits = LEAST_DIGITS;
  while (new Set(bare.map((id) => id.slice(-digits))).size < bare.length) digits += 1;
  return (id) => `…${id.replaceAll("-", "").slice(-digits)}`;
}

/** An explanation as JSON, with complete ids and texts; null for a text that no longer exists. */
export function explanationToJson(explanation: Explanation, texts: Texts): Record<string, unknown> {
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
      content: texts.get(record.nodeId) ?? null,
      section: record.section,
      rank: record.rank,
      score: record.score,
      representation: record.representation,
      token_cost: record.tokenCost,
      reasons: record.reasons.map(reasonToJson),
    })),
    not_in_context: explanation.notInContext.map((item) => ({
      node_id: item.nodeId,
      content: texts.get(item.nodeId) ?? null,
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
