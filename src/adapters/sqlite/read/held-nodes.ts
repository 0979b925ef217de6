import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Json } from "../../../lib/json.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type { Held } from "../../sql/nodes.ts";
import { ask } from "../connection/ask.ts";

/** UTF-16 units of texts and metadata that are held, counting each memory as at least so many. */
const ROOM = 12_000_000;
const NODE = 1000;

/** Counts what changes memories that exist, by any path; a table of this connection alone. */
const WATCH = `CREATE TEMP TABLE node_changes (count INTEGER NOT NULL);
  INSERT INTO node_changes VALUES (0);
  ${[
    "UPDATE ON main.nodes",
    "DELETE ON main.nodes",
    "UPDATE ON main.owners",
    "DELETE ON main.owners",
  ]
    .map(
      (event, index) =>
        `CREATE TEMP TRIGGER node_changes_${index} AFTER ${event} BEGIN UPDATE node_changes SET count = count + 1; END;`,
    )
    .join("\n")}`;
const STATE =
  "SELECT data_version || ' ' || (SELECT count FROM temp.node_changes) FROM pragma_data_version";

/**
 * The memories that questions read last, so that the next one need not read them from the pack. All are dropped once this process changes a
 * memory, or another one anything. They are frozen, because answers share them.
 */
export class HeldNodes implements Held {
  readonly #nodes = new Map<number, KeyedNode<number>>();
  readonly #writer: Database;
  #room = ROOM;
  #cleared = 0;
  #state: string | undefined;
  #isWatching = false;

  /** @param writer writes all that this process writes */
  constructor(writer: Database) {
    this.#writer = writer;
  }

  of(userId: string, keys: readonly number[]) {
    // What a transaction makes goes with it when it fails.
    if (!this.#isWatching && this.#writer.inTransaction)
      return { found: [], hold: () => undefined };
    const state = this.#readState();
    if (state === undefined || state !== this.#state) this.clear();
    this.#state = state;
    const found: KeyedNode<number>[] = [];
    for (const key of keys) {
      const held = this.#nodes.get(key);
      if (held?.node.userId === userId) found.push(held);
    }
    const since = this.#cleared;
    return { found, hold: (nodes: readonly KeyedNode<number>[]) => this.#hold(nodes, since) };
  }

  /** @param since nodes read before a later clearing may be older than what is held */
  #hold(nodes: readonly KeyedNode<number>[], since: number): void {
    if (since !== this.#cleared) return;
    if (this.#room <= 0) this.clear();
    for (const keyed of nodes) {
      freeze(keyed.node);
      this.#room -= sizeOf(keyed.node);
      this.#nodes.set(keyed.key, keyed);
    }
  }

  /** Undefined: unknown, as while another process has the file to itself. */
  #readState(): string | undefined {
    try {
      // Not when it is opened: a process that only looks at a pack leaves its files as they are.
      if (!this.#isWatching) this.#writer.run(WATCH);
      this.#isWatching = true;
      return ask<string>(this.#writer, STATE);
    } catch {
      return undefined;
    }
  }

  clear(): void {
    this.#cleared += 1;
    this.#nodes.clear();
    this.#room = ROOM;
  }
}

function sizeOf({ content, metadata }: MemoryNode): number {
  return Math.max(NODE, content.length + (metadata ? JSON.stringify(metadata).length : 0));
}

function freeze(value: MemoryNode | Json | undefined): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) freeze(inner);
  Object.freeze(value);
}
