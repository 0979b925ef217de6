import type { NodeType, Scope } from "../../domain/enums.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { KeyedNode, NodeKey } from "./search-index.ts";

/** A text that several of an owner's active memories have, to the last byte. */
export type RepeatedText<Key = NodeKey> = {
  /** SHA-256 of the text. */
  readonly hash: string;
  readonly keys: readonly Key[];
};

export type EntityName<Key = NodeKey> = {
  readonly key: Key;
  readonly scope: Scope;
  readonly content: string;
};

/** What decides which memories of a period are summed up. */
export type PeriodSource<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  /** `YYYY-MM-DD`, UTC: of the time that the memory speaks of. */
  readonly day: string;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
};

/** An active summary that the organizer published, without its text. */
export type PublishedSummary<Key = NodeKey> = {
  readonly key: Key;
  readonly id: Uuid;
  readonly scope: Scope;
  readonly isOpen: boolean;
  readonly at: Instant;
  readonly salienceBase: number;
  readonly confidenceBase: number;
  /** What it is about: a period, or a set of memories. */
  readonly about: string;
  /** `daily`, `weekly`, `monthly`; undefined for one of a set of memories. */
  readonly level: string | undefined;
  readonly periodKey: string | undefined;
  /** What it was made from. */
  readonly requestHash: string;
  /** How often a summary of this was published, this one included. */
  readonly generation: number;
  /**
   * Whether one of the memories whose text it holds stopped being active of late, and was replaced neither by it nor by an active
   * summary of a group (without a level), which says the same.
   */
  readonly isOutdated: boolean;
};

/** What jobs read that go over all memories of an owner, a part in each run. */
export type Organizing<Key = NodeKey> = {
  /** How far a job has come with an owner's memories; undefined: it has not begun. Nothing relies on it but speed. */
  walkPlace(job: string, userId: string): Promise<JsonObject | undefined>;
  saveWalkPlace(job: string, userId: string, place: JsonObject): Promise<void>;
  /** A key that no memory of an owner is newer than: that of the newest one, or of a newer one of others; 0 without any. */
  newestKey(userId: string): Promise<number>;
  /** Texts of several active memories, one of them newer than a key, by ascending hash. */
  repeatedTexts(read: {
    readonly userId: string;
    readonly newerThan: number;
    /** Exclusive; empty: from the first. */
    readonly afterHash: string;
    readonly limit: number;
  }): Promise<readonly RepeatedText<Key>[]>;
  /** All active entities of an owner. */
  entityNames(userId: string): Promise<readonly EntityName<Key>[]>;
  /** Tentative and stable memories that are newer than a key, by ascending key. */
  newNodes(read: {
    readonly userId: string;
    /** Absent: any but summaries. */
    readonly nodeType?: NodeType | undefined;
    readonly newerThan: number;
    readonly limit: number;
  }): Promise<readonly KeyedNode<Key>[]>;
  /** The newest tentative and stable memories of a type, by (createdAt, id), newest first. */
  newestOfType(
    userId: string,
    nodeType: NodeType,
    limit: number,
  ): Promise<readonly KeyedNode<Key>[]>;
  /**
   * The active memories of some days that are no summaries, in no particular order.
   * @param days `YYYY-MM-DD`; or a key: then of all days of memories that are newer
   */
  periodSources(
    userId: string,
    days: readonly string[] | number,
  ): Promise<readonly PeriodSource<Key>[]>;
  /** @param since what "of late" means; absent: ever */
  publishedSummaries(userId: string, since?: Instant): Promise<readonly PublishedSummary<Key>[]>;
  /** The memories that active summaries of sets of memories are about. */
  consolidatedIds(userId: string): Promise<ReadonlySet<Uuid>>;
};
