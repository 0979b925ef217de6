import type { LifecycleState, NodeType, RetrievalMode, Scope } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { ExclusionCounts } from "../../domain/records/aggregation.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { Page } from "../../ports/store/page.ts";
import type { EngineDeps } from "../deps.ts";
import { statesOf } from "./eligible.ts";
import { createGroups } from "./groups.ts";

/** Memories read at a time; other calls run between two pages. */
const PAGE = 500;

export type Scan = {
  readonly userId: string;
  /** Empty: all. */
  readonly scopes: readonly Scope[];
  readonly nodeTypes: readonly NodeType[];
  /** Empty: nothing. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly signal: AbortSignal | undefined;
};

/**
 * Visits an owner's memories scope by scope and type by type, each in the given order, by ascending id. Holds one page.
 * @returns how many there were
 * @throws the reason of the signal once it is aborted
 */
export async function scanRecords(
  { store }: Pick<EngineDeps<Graph>, "store">,
  { userId, scopes, nodeTypes, lifecycleStates, signal }: Scan,
  visit: (node: MemoryNode) => void,
): Promise<number> {
  signal?.throwIfAborted();
  if (lifecycleStates.length === 0) return 0;
  let scanned = 0;
  for (const scope of scopes.length === 0 ? [undefined] : scopes) {
    for (const nodeType of nodeTypes) {
      let afterId: Uuid | undefined;
      let isLast = false;
      while (!isLast) {
        const page = { userId, scope, nodeType, lifecycleStates, afterId, limit: PAGE };
        const { items, hasMore }: Page<MemoryNode> = await store.scanNodes(page);
        signal?.throwIfAborted();
        for (const node of items) visit(node);
        scanned += items.length;
        afterId = items.at(-1)?.id;
        isLast = !hasMore;
      }
    }
  }
  return scanned;
}

type GroupedScan<R, T> = Omit<Scan, "lifecycleStates"> & {
  readonly lifecycleStates: readonly LifecycleState[] | undefined;
  readonly retrievalMode: RetrievalMode;
  readonly groupLimit: number;
  readonly read: (node: MemoryNode) => R | string;
  readonly begin: () => T;
  /** The group of a record: its values as written, and in the form in which they are compared. */
  readonly valuesOf: (record: R) => readonly [readonly string[], readonly string[]];
  readonly add: (group: T, node: MemoryNode, record: R) => void;
};

/** Visits records and gathers those that are read in groups. `read` returns why a record is left out. */
export async function groupRecords<R extends object, T>(
  deps: Pick<EngineDeps<Graph>, "store">,
  scan: GroupedScan<R, T>,
) {
  const exclusions = createExclusions();
  const groups = createGroups<T>(scan.groupLimit, scan.begin);
  let matched = 0;
  const lifecycleStates = statesOf(scan);
  const scannedNodes = await scanRecords(deps, { ...scan, lifecycleStates }, (node) => {
    const record = scan.read(node);
    if (typeof record === "string") return exclusions.add(record);
    matched += 1;
    const group = groups.of(...scan.valuesOf(record));
    if (group !== undefined) scan.add(group, node, record);
  });
  return {
    matched,
    groups: groups.first(),
    counted: {
      scannedNodes,
      distinctCount: groups.count(),
      groupsTruncated: groups.count() > scan.groupLimit,
      exclusions: exclusions.counts(),
      storedSetExhaustive: true,
      sourceExtractionCoverage: "unknown",
      realWorldCoverage: "unknown",
      consistency: "complete_for_unchanged_store",
    },
  } as const;
}

/** Counts why records were excluded. */
export type Exclusions = {
  readonly add: (reason: string) => void;
  /** By name in code-point order. */
  readonly counts: () => ExclusionCounts;
};

/** Counts the part before the first colon of a reason; the rest is detail. */
export function createExclusions(): Exclusions {
  const counts = new Map<string, number>();
  return {
    add: (reason) => {
      const colon = reason.indexOf(":");
      const name = colon === -1 ? reason : reason.slice(0, colon);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    // Names are ASCII, whose order by UTF-16 units is that by code points.
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
