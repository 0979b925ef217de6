import { openChecksummed } from "../../domain/checksummed.ts";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { expiredAt } from "../../domain/fading.ts";
import { type Became, isActive } from "../../domain/lifecycle.ts";
import { type Edge, type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Browse, Graph } from "../../ports/store/graph.ts";
import type { AuditLog, AuditRecord } from "../../ports/store/records.ts";
import type { PastIndex, PastPage, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { nodePages, pagesOf } from "../pages.ts";

/** Memories at a time. */
const PAGE = 200;

export type PastRoles = SearchIndex &
  Pick<Graph, "scanNodes"> &
  Pick<Browse, "edges"> &
  Pick<AuditLog, "changesOf">;

type PastDeps = Pick<EngineDeps<PastRoles>, "store" | "embedder" | "clock" | "pastIndex">;

export type Past = {
  readonly index: PastIndex;
  /** What happened since to memories that were active then. */
  readonly became: ReadonlyMap<Uuid, Became>;
};

/**
 * An owner's memories at a moment, reconstructed from their present form and their recorded changes. Includes memories retired since, but
 * not forgotten ones.
 * @param comparable false: without vectors, which are of another model
 */
export async function openPast(
  deps: PastDeps,
  { userId, at }: { readonly userId: string; readonly at: Instant },
  comparable: boolean,
): Promise<Past> {
  const { store, embedder, clock, pastIndex } = deps;
  const became = new Map<Uuid, Became>();
  const isExpired = expiredAt(clock.now());
  async function* pages(): AsyncGenerator<PastPage> {
    const known = new Set<Uuid>();
    let readAt = clock.now();
    let changed = await changedSince(store, userId, at);
    for await (const page of scan(store, userId)) {
      const some = page.filter(({ createdAt }) => createdAt <= at);
      // Changed meanwhile.
      if (some.some(({ updatedAt }) => updatedAt >= readAt)) {
        readAt = clock.now();
        changed = await changedSince(store, userId, at);
      }
      const ids = some.map(({ id }) => id);
      const entries = await store.keptEntries(userId, ids);
      yield {
        nodes: some.flatMap((now) => {
          const entry = entries.get(now.id);
          if (entry === undefined) return [];
          known.add(now.id);
          const node = stateThen(now, changed.get(now.id), at);
          if (isActive(node.lifecycleState)) noteFate(became, now, isExpired(now));
          return [{ ...entry, vector: comparable ? entry.vector : undefined, node }];
        }),
        edges: [],
      };
    }
    for await (const edges of scanEdges(store, userId)) {
      yield {
        nodes: [],
        edges: edges.filter(
          ({ createdAt, sourceId, targetId }) =>
            createdAt <= at && known.has(sourceId) && known.has(targetId),
        ),
      };
    }
  }
  return { index: await pastIndex(embedder.identity, pages()), became };
}

function scan(store: PastRoles, userId: string) {
  return nodePages(store, { userId, lifecycleStates: LIFECYCLE_STATES, limit: PAGE });
}

function scanEdges(store: PastRoles, owner: string) {
  return pagesOf<Edge>((last) => store.edges({ owner, afterId: last?.id, limit: PAGE }));
}

/** Each memory changed after a moment, as it was before the first of these changes. */
async function changedSince(
  store: PastRoles,
  userId: string,
  at: Instant,
): Promise<ReadonlyMap<Uuid, MemoryNode>> {
  const found = new Map<Uuid, MemoryNode>();
  // Newest first: earlier ones overwrite later ones.
  const pages = pagesOf<AuditRecord>((last) => {
    const before = last && { at: last.createdAt, id: last.id };
    return store.changesOf({ userId, timeFrom: at, before, limit: PAGE });
  });
  for await (const records of pages) {
    for (const record of records.filter(({ createdAt }) => createdAt > at)) {
      for (const node of statesBefore(record)) found.set(node.id, node);
    }
  }
  return found;
}

/** The memories that a change affected, in their form before it; none for an erased record. */
function statesBefore({ payload }: AuditRecord): readonly MemoryNode[] {
  if (payload["sha256"] === undefined || payload["erased"] !== undefined) return [];
  return Object.entries(openChecksummed(payload)).flatMap(([name, value]) =>
    /(?:^|_)before$/.test(name) ? recordsIn(value) : [],
  );
}

function recordsIn(value: Json | undefined): readonly MemoryNode[] {
  if (typeof value !== "object" || value === null) return [];
  if (isRecord(value)) return [nodeRecord.from(value)];
  return Object.values(value).flatMap(recordsIn);
}

function isRecord(value: object): value is JsonObject {
  return "lifecycleState" in value && "evidenceRefs" in value;
}

/** A memory at a moment. @param recorded its form before the first recorded change since */
function stateThen(now: MemoryNode, recorded: MemoryNode | undefined, at: Instant): MemoryNode {
  // Text, place and owner never change, but the owner may have been renamed.
  const then = { ...(recorded ?? now), userId: now.userId };
  if (isActive(then.lifecycleState) || then.updatedAt <= at) return then;
  // Replaced by an extraction, whose record lacks the former state.
  const { supersededBy: _, validTo: __, ...rest } = then;
  return {
    ...rest,
    supersededBy: undefined,
    validTo: undefined,
    lifecycleState: "tentative",
    updatedAt: then.createdAt,
  };
}

function noteFate(became: Map<Uuid, Became>, now: MemoryNode, isExpired: boolean): void {
  const { id, lifecycleState, supersededBy: replacedBy } = now;
  if (!isActive(lifecycleState)) became.set(id, { state: lifecycleState, replacedBy });
  else if (isExpired) became.set(id, { state: "expired", replacedBy: undefined });
}
