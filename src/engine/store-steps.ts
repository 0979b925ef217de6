import type { MemoryEvent } from "../domain/event.ts";
import type { MemoryNode } from "../domain/node.ts";

/** A memory that was stored just now and can be found. */
export type StoredMemory = {
  readonly event: MemoryEvent;
  readonly node: MemoryNode;
  /** Undefined: its text is blank, or its vector is still to come. */
  readonly vector: Float32Array | undefined;
};

/** What is done around a store beside storing. Neither step ever rejects: what fails is reported and left out. */
export type StoreSteps = {
  /** The node as it is to be written. Undefined: as it was planned, without waiting for its vector. */
  readonly before:
    | ((node: MemoryNode, vector: Float32Array | undefined) => Promise<MemoryNode>)
    | undefined;
  readonly after: (stored: StoredMemory) => Promise<void>;
  /** Drops every text that is remembered between stores. */
  readonly forget: () => void;
};
