import type { MemoryEvent, MemoryNode } from "../domain/node.ts";
import type { Instant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { Activity, Graph, NodeScan } from "../ports/store/graph.ts";
import type { AuditLog, AuditRecord, AuditRecordPage, Page } from "../ports/store/records.ts";

/** The pages of a list. @param read one page: the first, or the one behind an item */
export async function* pagesOf<T>(
  read: (last: T | undefined) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  for (let last: T | undefined; ; ) {
    const { items, hasMore } = await read(last);
    yield items;
    last = items.at(-1);
    if (!hasMore || last === undefined) return;
  }
}

/** An owner's events, oldest first. */
export function eventPages(
  store: Pick<Activity, "eventsByTime">,
  of: { readonly userId: string; readonly sessionId?: string | undefined },
  limit: number,
): AsyncGenerator<readonly MemoryEvent[]> {
  return pagesOf((last?: MemoryEvent) => {
    const after: { at: Instant; id: Uuid } | undefined = last && {
      at: last.timestamp,
      id: last.id,
    };
    return store.eventsByTime({ ...of, oldestFirst: true, after, limit });
  });
}

/** The memories of a scan, by id. */
export function nodePages(
  store: Pick<Graph, "scanNodes">,
  scan: Omit<NodeScan, "afterId">,
): AsyncGenerator<readonly MemoryNode[]> {
  return pagesOf((last?: MemoryNode) => store.scanNodes({ ...scan, afterId: last?.id }));
}

/** An owner's records of one type, by what they are about. */
export function recordPages(
  store: Pick<AuditLog, "auditRecordsOf">,
  of: Omit<AuditRecordPage, "afterTargetId">,
): AsyncGenerator<readonly AuditRecord[]> {
  return pagesOf((last?: AuditRecord) =>
    store.auditRecordsOf({ ...of, afterTargetId: last?.targetId }),
  );
}

/** What a store has of some ids, however many pages that takes. @param read what fits into a page */
export async function allOf<T extends { readonly id: Uuid }>(
  ids: readonly Uuid[],
  read: (rest: readonly Uuid[]) => Promise<Page<T>>,
): Promise<Map<Uuid, T>> {
  const found = new Map<Uuid, T>();
  for (let rest = ids; rest.length > 0; ) {
    const { items, hasMore } = await read(rest);
    for (const item of items) found.set(item.id, item);
    rest = hasMore ? rest.filter((id) => !found.has(id)) : [];
  }
  return found;
}
