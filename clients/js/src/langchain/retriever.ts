import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import { Document } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import {
  parseOptionalInteger,
  parseOptionalNumber,
  parseUserId,
} from "../../../../src/domain/arguments.ts";
import type { MemoryNode } from "../../../../src/domain/node.ts";
import type { FoundMemory, Memory, MemoryQuestion } from "../memory.ts";

export type MemoryRetrieverInput = BaseRetrieverInput &
  Pick<MemoryQuestion, "scope" | "tokenBudget"> & {
    readonly memory: Memory;
    readonly userId: string;
    /** Documents at most, an integer >= 0. Default 10. */
    readonly topK?: number | undefined;
    /** Finite, >= 0; inclusive. */
    readonly minScore?: number | undefined;
  };

/** What a document says about its memory; instants are ISO 8601 in UTC. */
export type MemoryDocumentMetadata = {
  node_type: string;
  lifecycle_state: string;
  /** 0 to 1. */
  confidence: number;
  /** 0 to 1. */
  salience: number;
  scope: string;
  created_at: string;
  updated_at: string;
  composite_score: number;
  epistemic_type?: string;
  event_time?: string;
  /** By which searches it was found. Absent from a server. */
  retrieval_paths?: string[];
  /** 0 to 1. Absent with weighted fusion. */
  semantic_relevance?: number;
  /** The floor could not be applied, because no search by meaning was possible. */
  min_score_skipped?: true;
};

/** The memories of one owner that answer a question, best first, as documents with the ids of the memories. */
export class MemoryRetriever extends BaseRetriever<MemoryDocumentMetadata> {
  static override lc_name(): string {
    return "MemoryRetriever";
  }

  override lc_namespace = ["svc", "retrievers"];
  readonly #memory: Memory;
  readonly #question: Omit<MemoryQuestion, "query">;
  readonly #topK: number;

  /** @throws SvcError invalid_argument */
  constructor({
    memory,
    userId,
    scope,
    tokenBudget,
    topK = 10,
    minScore,
    ...rest
  }: MemoryRetrieverInput) {
    super(rest);
    parseOptionalInteger(topK, "topK", 0);
    parseOptionalNumber(minScore, "minScore", 0, Number.POSITIVE_INFINITY);
    this.#memory = memory;
    this.#topK = topK;
    this.#question = {
      userId: parseUserId(userId),
      scope,
      tokenBudget,
      minScore,
      client: "langchain",
    };
  }

  /** @throws SvcError as `retrieve` */
  override async _getRelevantDocuments(
    query: string,
    _run?: CallbackManagerForRetrieverRun,
  ): Promise<Document<MemoryDocumentMetadata>[]> {
    const { results, metadata } = await this.#memory.retrieve({ ...this.#question, query });
    const best = results.slice(0, this.#topK);
    const times = await this.#timesOf(best);
    return best.flatMap((found) => {
      const at = times.get(found.node.id);
      // It was erased in between.
      if (at === undefined) return [];
      return [documentOf(found, at, metadata.minScoreSkipped)];
    });
  }

  async #timesOf(found: readonly FoundMemory[]): Promise<ReadonlyMap<string, Times>> {
    const times = new Map<string, Times>();
    for (const { node } of found) {
      const { createdAt, updatedAt } = node;
      if (createdAt !== undefined && updatedAt !== undefined) {
        times.set(node.id, { createdAt, updatedAt });
      }
    }
    const unknown = found.map(({ node }) => node.id).filter((id) => !times.has(id));
    if (unknown.length === 0) return times;
    const { nodes } = await this.#memory.getNodes(unknown, this.#question.userId);
    for (const node of nodes) times.set(node.id, node);
    return times;
  }
}

type Times = Pick<MemoryNode, "createdAt" | "updatedAt">;

function documentOf(
  { node, compositeScore, paths, semanticRelevance, provenance }: FoundMemory,
  { createdAt, updatedAt }: Times,
  minScoreSkipped: boolean,
): Document<MemoryDocumentMetadata> {
  const isRelevant = semanticRelevance !== undefined && provenance?.formulaVersion !== 1;
  return new Document({
    pageContent: node.content,
    id: node.id,
    metadata: {
      node_type: node.nodeType,
      lifecycle_state: node.lifecycleState,
      confidence: node.confidence,
      salience: node.salience,
      scope: node.scope,
      created_at: createdAt,
      updated_at: updatedAt,
      composite_score: compositeScore,
      epistemic_type: node.epistemicType,
      ...(node.eventTime === undefined ? {} : { event_time: node.eventTime }),
      ...(paths === undefined ? {} : { retrieval_paths: [...paths] }),
      ...(isRelevant ? { semantic_relevance: semanticRelevance } : {}),
      ...(minScoreSkipped ? { min_score_skipped: true } : {}),
    },
  });
}
