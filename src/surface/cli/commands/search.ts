import { Option } from "commander";
import kleur from "kleur";
import { LIMITS } from "../../../domain/arguments.ts";
import { invalid, missing } from "../../../domain/errors.ts";
import { fateWords } from "../../../domain/lifecycle.ts";
import { seenIn, seenInWords } from "../../../domain/speaker.ts";
import type { RetrievalResponse } from "../../../engine/retrieve/api.ts";
import { fromDate } from "../../../lib/instant.ts";
import { shellWord } from "../../../lib/text.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";
import { age } from "../../contract/core/tool-text.ts";
import { explanationView, type ToldExplanation, withTexts } from "../../contract/explanation.ts";
import { listRetrievalsOperation } from "../../contract/receipts.ts";
import { bounded, retrieveToolView, toToolAnswer } from "../../contract/retrieval/answer.ts";
import { retrieveOperation } from "../../contract/retrieval/operations.ts";
import { emptyContext, type FoldedHit, shownHits, UNKNOWN } from "../../contract/retrieval/text.ts";
import { type Desk, dayOf, memoryCommand, noteOtherOwners, textAfter } from "../memories.ts";
import { countOption } from "../options.ts";
import { escaped, fields, oneLine, shortened, shortIds, table } from "../output.ts";

type SearchOptions = {
  readonly limit: number;
  readonly context?: true;
};

export const searchCommand = memoryCommand<SearchOptions, [readonly string[]]>(
  {
    name: "search",
    description: "find memories",
    words: [["<query...>", "a question or some words"]],
    of: retrieveOperation,
    members: { "as-of": ["as_of", 'search what was known and valid then: a time, "2 weeks ago"'] },
    options: [
      countOption("--limit <count>", "maximum number of memories to show", [0, 1000], 10),
      new Option("--context", "print the context that an assistant would get"),
    ],
    doing: "searching",
    examples: `
Examples:
  svc search "what does Anna drink?"
  svc search invoices --limit 3 --format json
  svc search "who lives in Oslo?" --context    the text an assistant would get`,
  },
  async (desk, words) => {
    const query = words.join(" ");
    if (query.trim() === "") throw invalid("query", "is empty; svc list shows all memories");
    const { output: answer } = await desk.ask(retrieveOperation, { ...desk.given, query });
    const response = bounded(answer, LIMITS.pageChars);
    const { context, limit, format, isNamed } = desk.options;
    const { metadata, bundle } = response;
    for (const [backend, reason] of Object.entries(metadata.backendFailures)) {
      desk.output.note(
        `Warning: ${backend} did not answer (${reason}); the result is made from the others`,
      );
    }
    const isContext = context === true;
    const told = toToolAnswer(response, isContext, limit);
    if (format !== "json" && isContext) emptyContext(bundle).map((line) => desk.output.note(line));
    desk.tell({ query, ...retrieveToolView.json(told) }, () =>
      isContext
        ? [bundle.renderedContext]
        : (answer.overview?.split("\n") ?? hitLines(response, limit)),
    );
    const isKnown = response.results.some(({ strength }) => strength === "strong");
    if (!isKnown && !answer.overview) {
      await noteElsewhere(desk, query);
    }
    if (response.results.length === 0) return;
    if (format !== "json" && !isContext && metadata.receiptPersisted) {
      const pack = isNamed ? ` --db-path ${desk.pack}` : "";
      desk.output.note(`Why these: svc explain ${metadata.requestId}${pack}`);
    }
  },
);

/** Owners that are asked when the own one knows nothing. */
const ASKED_OWNERS = 5;

/** Names the other owners that have a strong answer; without one, those that have memories if this one has none. */
async function noteElsewhere(desk: Desk<SearchOptions>, query: string): Promise<void> {
  const { context, engine, owner = "", output } = desk;
  const answering: string[] = [];
  const others = (await engine.ownersWithMemories()).filter(({ userId }) => userId !== owner);
  for (const { userId } of others.slice(0, ASKED_OWNERS)) {
    const { results } = await engine.retrieve({ query, userId, limit: 1, keepReceipt: false });
    if (results[0]?.strength === "strong") answering.push(userId);
  }
  const [first] = answering;
  if (first === undefined) return await noteOtherOwners(context, engine, owner);
  const names = answering.map((name) => oneLine(name)).join(", ");
  output.note(`Something is known under ${names}: --user-id ${shellWord(first)}`);
}

/** The results; if none is strong, that comes first. */
function hitLines(response: RetrievalResponse, limit: number): readonly string[] {
  const { hits, isKnown, isPerhaps } = shownHits(response, limit);
  const name = shortIds(hits.map(({ hit }) => hit.node.id));
  const now = fromDate(new Date());
  const rows = hits.map((folded, at) => {
    const { node } = folded.hit;
    return [
      `${at + 1}. ${contentOf(folded, hits)}`,
      node.nodeType,
      age(node.createdAt, now),
      name(node.id),
    ];
  });
  return [
    ...(isKnown ? [] : [`${UNKNOWN} ${isPerhaps ? "Perhaps:" : "The nearest memories:"}`]),
    ...(rows.length === 0
      ? ["(no results)"]
      : table(["MEMORY", "TYPE", "STORED", "ID"], rows, true)),
  ];
}

/** The text of a hit, after its facts. */
function contentOf(
  { hit: { node, olderThan, became }, repeats }: FoldedHit,
  hits: readonly FoldedHit[],
): string {
  const seen = seenIn(node.metadata);
  const newer = olderThan && hits.findIndex(({ hit }) => hit.node.id === olderThan.nodeId) + 1;
  const facts = [
    newer === undefined ? [] : newer > 0 ? [`older than ${newer}`] : ["outdated"],
    became === undefined ? [] : [`since ${fateWords(became)}`],
    seen === undefined ? dayOf(node) : [escaped(seenInWords(seen))],
    repeats > 1 ? [`${repeats} times`] : [],
  ].flat();
  return textAfter(facts, node);
}

export const explainCommand = memoryCommand<object, [string | undefined]>(
  {
    name: "explain",
    description: "say why each record was or was not in the context of a retrieval",
    isOfAll: true,
    words: [["[request_id]", "the request_id of the answer (default: the last one)"]],
    examples: `
Examples:
  svc explain                           the last question
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f --format json    with complete ids and texts

The reasons come from the receipt of the retrieval alone, which holds no texts of memories; those are read from the pack. Receipts
are kept as long as SVC_RECEIPTS__RETENTION_DAYS says.`,
  },
  async (desk, given) => {
    const { engine, owner } = desk;
    const request_id = given === undefined ? await lastRetrieval(desk) : parseUuid(given);
    if (request_id === undefined) {
      throw invalid("request_id", `${JSON.stringify(given)} is not a UUID`);
    }
    const found = await engine.explain(request_id, owner);
    if (found === undefined) {
      throw missing(
        "retrieval",
        request_id,
        `there is no receipt of a retrieval ${request_id} here; receipts are kept for a limited time`,
      );
    }
    // Not by the requested name, which the owner may no longer have.
    const told = await withTexts(engine, found, owner, LIMITS.pageChars);
    desk.tell(explanationView.json(told), () => explanationLines(told));
  },
);

/** The last answer of an owner, else of the pack's. @throws SvcError not_found */
async function lastRetrieval({ ask, engine, owner }: Desk<object>): Promise<Uuid> {
  const user_id = owner ?? (await engine.packOwner());
  const { output } = await ask(listRetrievalsOperation, { user_id, limit: 1 });
  const [last] = output.retrievals;
  if (last !== undefined) return last.requestId;
  throw missing("retrieval", user_id ?? "", "no receipt of a retrieval is kept here");
}

type Explained = ToldExplanation["inContext"][number];
type Excluded = ToldExplanation["notInContext"][number];
type Reason = Excluded["reason"];

/** Memories listed for one reason; the others are counted. */
const NAMED_FOR_ONE = 3;

/** Characters of a memory. */
const EXPLAINED_CHARS = 100;

/** An explanation for a person: one line per fact, texts cut to a line, ids shortened as far as they stay distinct. */
function explanationLines(explanation: ToldExplanation): readonly string[] {
  const short = shortIds(namedIds(explanation), 8);
  const name = (id: Uuid): string => `…${short(id)}`;
  const { inContext, notInContext } = explanation;
  const common = Map.groupBy(notInContext, ({ reason }) => reasonText(reason, name));
  return [
    ...fields(headFields(explanation)),
    ...explanation.notes.map((note) => `Note: ${note}`),
    "",
    kleur.bold(`In the context, in its order: ${inContext.length}`),
    ...inContext.flatMap((record) => recordLines(record, name)),
    "",
    kleur.bold(`Not in the context: ${notInContext.length}`),
    ...[...common].flatMap(([text, items]) => exclusionLines(text, items, name)),
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
    node === undefined ? "(no longer here)" : `"${shortened(node.content, EXPLAINED_CHARS)}"`;
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

/** Each reason once, with the memories it excluded. */
function exclusionLines(
  text: string,
  items: readonly Excluded[],
  name: (id: Uuid) => string,
): readonly string[] {
  const rest = items.length - NAMED_FOR_ONE;
  return [
    `      ${items.length === 1 ? "" : `${items.length} times: `}${text}`,
    ...items.slice(0, NAMED_FOR_ONE).flatMap((item) => {
      const facts = [
        ...(item.rank === undefined ? [] : [`rank ${item.rank}`]),
        ...(item.score === undefined ? [] : [`score ${item.score.toFixed(4)}`]),
      ];
      const [first, ...more] = textLines(item);
      return [`        ${[name(item.nodeId), ...facts].join(", ")} ${first?.trim()}`, ...more];
    }),
    ...(rest > 0 ? [`        and ${rest} more`] : []),
  ];
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
