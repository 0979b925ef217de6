import kleur from "kleur";
import type { Uuid } from "../../lib/uuid.ts";
import type { ToldExplanation } from "../contract/explanation.ts";
import { fields, oneLine, shortened } from "./output.ts";

type Explained = ToldExplanation["inContext"][number];
type Excluded = ToldExplanation["notInContext"][number];
type Reason = Excluded["reason"];

/** Minimum digits shown from the end of an id; the start of an id is its time, which neighbours share. */
const LEAST_DIGITS = 8;

/** Characters of a memory. */
const SHOWN_CHARS = 100;

/** An explanation for a person: one line per fact, texts cut to a line, ids as short as they stay distinct. */
export function explanationLines(explanation: ToldExplanation): readonly string[] {
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
    ...notInContext.flatMap((item) => [exclusionLine(item, name), ...textLines(item)]),
  ];
}

function headFields(explanation: ToldExplanation): [string, string][] {
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

function searchText({ name, found, failure }: ToldExplanation["searches"][number]): string {
  return failure === undefined ? `${name} ${found}` : `${name} failed (${failure})`;
}

function textLines({ node, organizer }: Pick<Excluded, "node" | "organizer">): readonly string[] {
  const text =
    node === undefined ? "(no longer here)" : `"${shortened(node.content, SHOWN_CHARS)}"`;
  const change = organizer === undefined ? [] : [`the organizer: ${organizer}`];
  return [text, ...change].map((line) => `        ${line}`);
}

function recordLines(record: Explained, name: (id: Uuid) => string): readonly string[] {
  const { place, nodeId, section, rank, score, representation, tokenCost, reasons } = record;
  const facts = `${section}, rank ${rank}, score ${score.toFixed(4)}, ${representation}, ${tokenCost} tokens`;
  return [
    `${String(place).padStart(4)}  ${name(nodeId)}  ${facts}`,
    ...textLines(record),
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

function namedIds(explanation: ToldExplanation): ReadonlySet<Uuid> {
  const { inContext, notInContext } = explanation;
  const reasons = [
    ...inContext.flatMap((record) => record.reasons),
    ...notInContext.map((item) => item.reason),
  ];
  const listed = [...inContext, ...notInContext].map(({ nodeId }) => nodeId);
  return new Set([...listed, ...reasons.flatMap(({ memory }) => memory ?? [])]);
}

/** Names ids by their last digits, as many as needed to keep them distinct. */
function shortNames(ids: ReadonlySet<Uuid>): (id: Uuid) => string {
  const bare = [...ids].map((id) => id.replaceAll("-", ""));
  let digits = LEAST_DIGITS;
  while (new Set(bare.map((id) => id.slice(-digits))).size < bare.length) digits += 1;
  return (id) => `…${id.replaceAll("-", "").slice(-digits)}`;
}
