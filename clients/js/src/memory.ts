import { ERROR_CATALOGUE, type ErrorCode, type SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEvent, MemoryNode } from "../../../src/domain/node.ts";
import type { EventsQuery } from "../../../src/engine/browse/api.ts";
import type { ResultCandidate, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import type { NearMemory, StoreInput } from "../../../src/engine/write/api.ts";

/**
 * What the adapters ask of a memory. An open engine and a lease of a workspace have these methods, and `remoteMemory` makes them
 * from the address of a server. The adapters never close it.
 */
export type Memory = {
  /** Keeps one text, which can be found when the call returns. */
  storeWithReceipt(input: MemoryStore): Promise<StoredMemory>;
  /** Memories that answer a question, best first, and as many of them as fit into the budget as a text for a prompt. */
  retrieve(input: MemoryQuestion): Promise<FoundMemories>;
  /** An owner's events by time, a page at a time. */
  listEvents(query: EventsQuery): Promise<{
    readonly events: readonly MemoryEvent[];
    readonly nextCursor: string | undefined;
  }>;
  /** An owner's memories in any state, in the order of the ids; ids of others are left out. */
  getNodes(
    nodeIds: readonly string[],
    userId: string,
  ): Promise<{ readonly nodes: readonly MemoryNode[] }>;
  /** Retires the first in favour of the second. @throws SvcError not_found for a memory of another owner */
  supersede(
    oldId: string,
    newId: string,
    options: { readonly userId: string },
  ): Promise<readonly MemoryNode[]>;
  /** Retires a memory for good; its text stays in the log. @throws SvcError not_found for a memory of another owner */
  archive(nodeId: string, options: { readonly userId: string }): Promise<MemoryNode>;
};

export type MemoryStore = Pick<
  StoreInput,
  | "content"
  | "userId"
  | "role"
  | "sessionId"
  | "scope"
  | "nodeType"
  | "metadata"
  | "eventTime"
  | "supersedes"
  | "ttlDays"
  | "requestId"
>;

export type StoredMemory = {
  readonly nodeId: string;
  readonly eventId: string;
  /** Whether the text was there already, as this memory. */
  readonly duplicate?: boolean | undefined;
  /** Memories that the new one may replace. Undefined: not searched. */
  readonly near?:
    | readonly (Pick<NearMemory, "similarity" | "identical"> & {
        readonly node: Pick<MemoryNode, "id" | "content">;
      })[]
    | undefined;
};

export type MemoryQuestion = Pick<
  RetrieveInput,
  "query" | "userId" | "scope" | "tokenBudget" | "minScore" | "limit" | "client" | "signal"
>;

/** A memory that was found. A server does not say when it was stored, or by which ways it was found. */
export type FoundMemory = Pick<ResultCandidate, "compositeScore" | "strength"> & {
  /** 0 to 1; absent from a server with weighted fusion. */
  readonly semanticRelevance?: number | undefined;
  readonly node: Pick<
    MemoryNode,
    | "id"
    | "content"
    | "nodeType"
    | "lifecycleState"
    | "confidence"
    | "salience"
    | "scope"
    | "epistemicType"
    | "eventTime"
  > &
    Partial<Pick<MemoryNode, "createdAt" | "updatedAt">>;
  readonly paths?: readonly string[];
  readonly provenance?: { readonly formulaVersion?: number };
};

export type FoundMemories = {
  readonly results: readonly FoundMemory[];
  readonly bundle: { readonly renderedContext: string };
  readonly metadata: { readonly minScoreSkipped: boolean };
};

/**
 * Whether a memory failed with a code of the catalogue. An engine of the package `svc` throws errors of a class of its own, so the
 * code tells, not the class.
 * @internal
 */
export function isSvcError(error: unknown): error is SvcError {
  return error instanceof Error && "code" in error && isErrorCode(error.code);
}

/** @internal */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(ERROR_CATALOGUE, code);
}

/**
 * Milliseconds that a timer can wait.
 * @internal
 */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/** @internal */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
