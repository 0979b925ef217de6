import { Option } from "commander";
import { LIMITS } from "../../../domain/arguments.ts";
import { wholeOf } from "../../../domain/beginning.ts";
import { invalid } from "../../../domain/errors.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { seenIn, seenInWords } from "../../../domain/speaker.ts";
import type { RetrievalResponse } from "../../../engine/retrieve/api.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { bounded } from "../../contract/retrieval/answer.ts";
import { shownHits } from "../../contract/retrieval/hits.ts";
import type { FoldedHit } from "../../contract/retrieval/repeated-hits.ts";
import { emptyContext } from "../../contract/retrieval/text.ts";
import type { CliContext } from "../context.ts";
import { packWord } from "../default-pack.ts";
import { withEngine } from "../engine.ts";
import { configFor, ownerOption } from "../options.ts";
import { escaped, shortened, table } from "../output.ts";
import { noteOtherOwners, ownerFor } from "../owner.ts";
import { countOption, PACK, type PackOptions, packCommand } from "../pack-command.ts";

/** Characters of a memory in the table. */
const SHOWN_CHARS = 100;
const EXAMPLES = `
Examples:
  svc search ./memory.pack "what does Anna drink?"
  svc search ./memory.pack "invoices" --user-id anna --limit 3 --format json
  svc search ./memory.pack "who lives in Oslo?" --context    the text an assistant would get`;

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
    examples: EXAMPLES,
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
