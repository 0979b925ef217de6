import type { LifecycleState, Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import type { Owner } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Page } from "./page.ts";

/** One page of an owner's events by (timestamp, id). */
export type EventWalk = {
  readonly userId: string;
  readonly sessionId?: string | undefined;
  /** Absent: all. Empty: nothing matches. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly oldestFirst: boolean;
  /** Exclusive. */
  readonly after?: { readonly at: Instant; readonly id: Uuid } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** A conversation: its events and its active memories. */
export type Session = {
  readonly sessionId: string;
  /** Of the earliest and the latest of both. */
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly events: number;
  readonly memories: number;
};

/** One page of an owner's sessions, the latest first; ties by id, descending. */
export type SessionPage = {
  readonly userId: string;
  /** Exclusive. */
  readonly after?: { readonly at: Instant; readonly sessionId: string } | undefined;
  /** At least 1. */
  readonly limit: number;
};

/** The store as a whole, and how much of it is an owner's. */
export type StoreState = {
  /** Another text after every committed change, by whatever process. Only the store knows its meaning. */
  readonly changeSequence: string;
  /** On disk, without what waits in a log. */
  readonly bytes: number;
  /** Undefined where its server decides and does not tell. */
  readonly isEncrypted: boolean | undefined;
  /** Nodes; states without any are left out. */
  readonly states: Readonly<Partial<Record<LifecycleState, number>>>;
  readonly receipts: number;
};

/** What has happened in a store. */
export type Activity = {
  eventsByTime(page: EventWalk): Promise<Page<MemoryEvent>>;
  sessions(page: SessionPage): Promise<Page<Session>>;
  storeState(owner: Owner): Promise<StoreState>;
};
