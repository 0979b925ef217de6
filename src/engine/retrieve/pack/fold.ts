import type { MemoryNode } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { statusTags, validityLabel } from "./reader-line.ts";

/**
 * Whether a reader of `outer` misses nothing without `inner`: both rest on one event, `outer` contains the text of `inner`, has
 * the same status, and shows at least as much about time, validity and speaker.
 */
export function foldsInto(inner: MemoryNode, outer: MemoryNode): boolean {
  const text = inner.content.trim();
  return (
    text !== "" &&
    inner.evidenceRefs.some((event) => outer.evidenceRefs.includes(event)) &&
    outer.content.includes(text) &&
    statusTags(inner).join() === statusTags(outer).join() &&
    sameOrNone(inner.eventTime, outer.eventTime) &&
    sameOrNone(validityLabel(inner), validityLabel(outer)) &&
    sameOrNone(storedSpeaker(inner.metadata), storedSpeaker(outer.metadata))
  );
}

function sameOrNone(inner: string | undefined, outer: string | undefined): boolean {
  return inner === undefined || inner === outer;
}

/** The records of a context by their events: only records of one event can fold. */
export class FoldIndex<R extends { readonly node: MemoryNode }> {
  readonly #byEvent = new Map<Uuid, Set<R>>();

  add(record: R): void {
    for (const event of record.node.evidenceRefs) {
      this.#byEvent.set(event, (this.#byEvent.get(event) ?? new Set()).add(record));
    }
  }

  remove(record: R): void {
    for (const event of record.node.evidenceRefs) this.#byEvent.get(event)?.delete(record);
  }

  /** A record that contains everything the memory would show. */
  hostOf(node: MemoryNode): R | undefined {
    return this.#sharing(node).find((record) => foldsInto(node, record.node));
  }

  /** The records that show nothing beyond the memory, except itself. */
  heldBy(node: MemoryNode): readonly R[] {
    return this.#sharing(node).filter(
      (record) => record.node.id !== node.id && foldsInto(record.node, node),
    );
  }

  #sharing(node: MemoryNode): R[] {
    return [
      ...new Set(node.evidenceRefs.flatMap((event) => [...(this.#byEvent.get(event) ?? [])])),
    ];
  }
}
