import type { MemoryEvent } from "../domain/event.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { PlannedChange } from "../ports/changes.ts";
import type { ChangeCaller } from "./changes.ts";
import type { NearMemory } from "./results.ts";

/** A memory that was stored just now and can be found. */
export type StoredMemory = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  /** Undefined: its text is blank, or its vector is still to come. */
  readonly vector: Float32Array | undefined;
  /** The memories that it replaced when it was stored. */
  readonly supersedes: readonly Uuid[];
};

/** What is done around a store beside storing. No step ever rejects: what fails is reported and left out. */
export type StoreSteps = {
  /** The node as it is to be written. Undefined: as it was planned, without waiting for its vector. */
  readonly before:
    | ((node: MemoryNode, vector: Float32Array | undefined) => Promise<MemoryNode>)
    | undefined;
  /** What the memory replaces, as a change that is made in the transaction that writes it. */
  readonly replace: (
    nodeIds: readonly Uuid[],
    node: MemoryNode,
    caller: ChangeCaller,
  ) => PlannedChange;
  /** The memories that it may replace, nearest first. Undefined: nobody knows, since its vector or the search failed. */
  readonly near: (
    stored: Pick<StoredMemory, "node" | "vector">,
  ) => Promise<readonly NearMemory[] | undefined>;
  readonly after: (stored: StoredMemory) => Promise<void>;
  /** Drops every text that is remembered between stores. */
  readonly forget: () => void;
};
