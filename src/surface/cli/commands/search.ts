import { Command, Option } from "commander";
import kleur from "kleur";
import { LIMITS } from "../../../domain/arguments.ts";
import { wholeOf } from "../../../domain/beginning.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { seenIn, seenInWords } from "../../../domain/speaker.ts";
import type { RetrievalResponse } from "../../../engine/retrieve/api.ts";
import { parseUuid, type Uuid } from "../../../lib/uuid.ts";
import { explanationView, type ToldExplanation, withTexts } from "../../contract/explanation.ts";
import { bounded } from "../../contract/retrieval/answer.ts";
import { emptyContext, type FoldedHit, shownHits } from "../../contract/retrieval/text.ts";
import type { CliContext } from "../context.ts";
import { noteOtherOwners, ownerFor, withEngine } from "../memories.ts";
import {
  configFor,
  countOption,
  encryptionKeyOption,
  formatOption,
  ownerOption,
  PACK,
  type PackOptions,
  packCommand,
  packWord,
} from "../options.ts";
import { escaped, type Format, fields, oneLine, shortened, table } from "../output.ts";

/** Characters of a memory in the table. */
const SHOWN_CHARS = 100;

type SearchOptions = PackOptions & {
  readonly userId?: string;
  readonly limit: number;
  readonly context?: true;
};

/** `svc search`: searches one owner's memories for a question. */
export const searchCommand = packCommand(
  {
    name: "search",
    description: "find memories",
    arguments: [PACK, ["<query>", "a question or some words"]],
    options: [
      ownerOption(),
      countOption("--limit <count>", "maximum number of memories to show", [0, 1000], 10),
      new Option("--context", "print the context that an assistant would get"),
    ],
    examples: `
Examples:
  svc search ./memory.pack "what does Anna drink?"
  svc search ./memory.pack "invoices" --user-id anna --limit 3 --format json
  svc search ./memory.pack "who lives in Oslo?" --context    the text an assistant would get`,
  },
  async (context, path: string, query: string, options: SearchOptions) => {
    if (query.trim() === "") throw invalid("query", "is empty; svc list shows all memories");
    const config = await configFor(context, path, options.encryptionKey);
    await withEngine(context, config, async (engine) => {
      const stopProgress = await context.output.progress("searching");
      try {
        const given = options.userId === "" ? undefined : options.userId;
        const userId = await ownerFor(context, engine, { given, path, isStoring: false });
        const answer = await engine.retrieve({
          query,
          userId,
          client: "svc search",
        });
        const response = bounded(answer, LIMITS.pageChars);
        stopProgress();
        print(context, query, response, { ...options, path });
        if (response.results.length === 0) await noteOtherOwners(context, engine, userId);
      } finally {
        stopProgress();
      }
    });
  },
);

function print(
  { output }: CliContext,
  query: string,
  response: RetrievalResponse,
  options: SearchOptions & { readonly path: string },
): void {
  for (const [backend, reason] of Object.entries(response.metadata.backendFailures)) {
    output.note(
      `Warning: ${backend} did not answer (${reason}); the result is made from the others`,
    );
  }
  const { renderedContext } = response.bundle;
  const { hits, isKnown } = shownHits(response, options.limit);
  if (options.format === "json") {
    output.json({
      query,
      request_id: response.metadata.requestId,
      result_count: hits.length,
      results: hits.map(({ hit: { node, compositeScore, strength, olderThan }, repeats }) => ({
        node_id: node.id,
        score: Number(compositeScore.toFixed(4)),
        content: node.content,
        ...(wholeOf(node).content !== undefined && { content_length: wholeOf(node).content }),
        node_type: node.nodeType,
        ...(repeats > 1 && { repeats }),
        ...(strength !== undefined && { strength }),
        ...(olderThan !== undefined && { older_than: olderThan.nodeId }),
        ...(sourceOf(node) !== undefined && { source: sourceOf(node) }),
      })),
      ...(options.context === true ? { context: renderedContext } : {}),
    });
    return;
  }
  if (options.context === true) {
    for (const line of emptyContext(response.bundle)) output.note(line);
    output.line(renderedContext);
    return;
  }
  const rows = hits.map((folded, index) => [
    String(index + 1),
    folded.hit.compositeScore.toFixed(4),
    folded.hit.node.nodeType,
    contentOf(folded, hits),
  ]);
  output.line(`Query: ${query}`);
  output.line(`Results: ${hits.length}`);
  if (!isKnown)
    output.line("Nothing is known about this for certain; these are the nearest memories.");
  output.line();
  for (const line of table(["#", "SCORE", "TYPE", "CONTENT"], rows)) output.line(line);
  if (response.metadata.receiptPersisted) {
    output.note(
      `Why these: svc explain ${response.metadata.requestId} --db-path ${packWord(options.path)}`,
    );
  }
}

/** The text of a hit, with what is to be known about it. */
function contentOf(
  { hit: { node, olderThan }, repeats }: FoldedHit,
  hits: readonly FoldedHit[],
): string {
  const source = sourceOf(node);
  const text = [
    ...(olderThan === undefined ? [] : [`(older than ${placeOf(olderThan.nodeId, hits)})`]),
    shortened(node.content, SHOWN_CHARS),
    ...(source === undefined ? [] : [`(${escaped(source)})`]),
    ...(repeats > 1 ? [`(${repeats} times)`] : []),
  ];
  return text.join(" ");
}

/** The photo or the frame that a memory is of, in words. */
function sourceOf({ metadata }: MemoryNode): string | undefined {
  const seen = seenIn(metadata);
  return seen && seenInWords(seen);
}

/** The number of a displayed hit, else its id. */
function placeOf(id: Uuid, hits: readonly FoldedHit[]): string {
  const place = hits.findIndex(({ hit }) => hit.node.id === id);
  return place === -1 ? id : `#${place + 1}`;
}

type ExplainOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly format: Format;
};

/** `svc explain`: why each record was or was not in the context of a retrieval. */
export function explainCommand(context: CliContext): Command {
  return new Command("explain")
    .description("say why each record was or was not in the context of a retrieval")
    .argument("<request_id>", "the request_id of the answer")
    .option("--db-path <path>", "the pack; default: as configured")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Examples:
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f --db-path ./memory.pack
  svc explain 01a1ff09-5402-753f-9c6b-4e48df25fe8f --format json    with complete ids and texts

The reasons come from the receipt of the retrieval alone, which holds no texts of memories; those are read from the pack. Receipts
are kept as long as SVC_RECEIPTS__RETENTION_DAYS says.`,
    )
    .action((requestId: string, options: ExplainOptions) => explain(context, requestId, options));
}

async function explain(
  context: CliContext,
  given: string,
  { dbPath, encryptionKey, format }: ExplainOptions,
): Promise<void> {
  const { output } = context;
  const requestId = parseUuid(given);
  if (requestId === undefined)
    throw invalid("request_id", `${JSON.stringify(given)} is not a UUID`);
  const config = await configFor(context, dbPath, encryptionKey);
  await withEngine(context, config, async (engine) => {
    const explanation = await engine.explain(requestId);
    if (explanation === undefined) {
      throw new SvcError(
        "not_found",
        `there is no receipt of a retrieval ${requestId} here; receipts are kept for a limited time`,
        { kind: "retrieval", id: requestId },
      );
    }
    // Their owner may have been renamed since.
    const told = await withTexts(engine, explanation, undefined, LIMITS.pageChars);
    if (format === "json") return output.json(explanationView.json(told));
    for (const line of explanationLines(told)) output.line(line);
  });
}

type Explained = ToldExplanation["inContext"][number];
type Excluded = ToldExplanation["notInContext"][number];
type Reason = Excluded["reason"];

/** Minimum digits shown from the end of an id; the start of an id is its time, which neighbours share. */
const LEAST_DIGITS = 8;

/** Characters of a memory. */
const EXPLAINED_CHARS = 100;

/** An explanation for a person: one line per fact, texts cut to a line, ids as short as they stay distinct. */
function explanationLines(explanation: ToldExplanation): readonly string[] {
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
