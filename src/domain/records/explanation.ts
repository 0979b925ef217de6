import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { QueryIntent, RepresentationLevel } from "../enums.ts";
import type { AnyReceipt, ReceiptDetail } from "./receipt.ts";
import type { RetrievalRecord, SectionName } from "./retrieval-record.ts";

/** A receipt that was read back and checked. */
export type KeptReceipt = {
  readonly receipt: AnyReceipt;
  readonly record: RetrievalRecord;
  /** The receipt as canonical JSON. */
  readonly text: string;
  /** SHA-256 of `text`, 64 lower-case hex digits. */
  readonly checksum: string;
  readonly createdAt: Instant;
};

/** One reason in plain words. A text about another memory ends where its id belongs. */
export type Reason = {
  readonly text: string;
  readonly memory: Uuid | undefined;
};

/** A memory in the context and why it is there. */
export type ExplainedRecord = {
  /** From 1, in the order of the context. */
  readonly place: number;
  readonly nodeId: Uuid;
  readonly section: SectionName;
  /** From 1 among the results. */
  readonly rank: number;
  readonly score: number;
  readonly representation: RepresentationLevel;
  readonly tokenCost: number;
  readonly reasons: readonly Reason[];
};

/** A candidate that is not in the context and why. */
export type ExplainedExclusion = {
  readonly nodeId: Uuid;
  /** The stage that excluded it. */
  readonly stage: "packing" | "selection" | "filter";
  /** As recorded, for example `result_limit`. */
  readonly code: string;
  /** Rank only for results, score only for scored candidates. */
  readonly rank: number | undefined;
  readonly score: number | undefined;
  readonly reason: Reason;
};

/** Why a context contains what it contains. No part of it is the text of a memory. */
export type Explanation = {
  readonly requestId: Uuid;
  readonly userId: string;
  readonly query: string;
  readonly intent: QueryIntent;
  /** The moment used as the present. */
  readonly referenceTime: Instant;
  readonly createdAt: Instant;
  /** `lean`: of the receipt; neither all reasons nor all that is not in the context are known. */
  readonly detail: ReceiptDetail;
  /** The restrictions of the request, in plain words; empty: none. */
  readonly filters: readonly string[];
  readonly searches: readonly {
    readonly name: string;
    readonly found: number;
    /** A category; undefined if the search answered. */
    readonly failure: string | undefined;
  }[];
  /** Anything unusual, in plain words. */
  readonly notes: readonly string[];
  readonly tokensUsed: number;
  /** Tokens available for records: the budget minus the caller's own frame. */
  readonly tokensAvailable: number;
  readonly inContext: readonly ExplainedRecord[];
  /** Results that were not packed, in rank order, then what selection excluded, then what filters excluded. */
  readonly notInContext: readonly ExplainedExclusion[];
};

/** What explains an answer at once. */
export type ExplainedAnswer = { readonly receipt: KeptReceipt; readonly explanation: Explanation };
