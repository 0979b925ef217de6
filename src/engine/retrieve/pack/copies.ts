import { isTooLongForContext } from "../../../domain/beginning.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { statementOf } from "../../../domain/replacement.ts";
import { saysTheSame } from "../../../domain/same-saying.ts";
import { isOfConversation } from "../../../domain/search/turns.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Instant } from "../../../lib/instant.ts";
import { normalForm } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ResultCandidate } from "../api.ts";
import { byScore } from "../score/score.ts";
import { seenTags, statusTags, storedTime, validityLabel } from "./record-line.ts";
import { sectionOf } from "./sections.ts";

/** Candidates with each text once. */
type WithoutCopies = {
  readonly kept: readonly ResultCandidate[];
  /** Memories with the text of a kept one, if several. */
  readonly repeats: ReadonlyMap<Uuid, number>;
  /** The others, each with the kept one. */
  readonly folded: ReadonlyMap<Uuid, Uuid>;
};

/** Keeps the best of candidates whose lines would be equal in the same place. Sides of a dispute and members of windows stay. */
export function withoutCopies(
  candidates: readonly ResultCandidate[],
  ranks: ReadonlyMap<Uuid, number>,
  windows: ReadonlyMap<Uuid, WindowPlace>,
): WithoutCopies {
  const times = new Map<string, number>();
  for (const text of candidates.map(textOf)) times.set(text, (times.get(text) ?? 0) + 1);
  const kept = new Map<string, ResultCandidate>();
  const repeats = new Map<Uuid, number>();
  const folded = new Map<Uuid, Uuid>();
  for (const candidate of [...candidates].sort(byScore)) {
    const { node, contradictsId, olderThan, became } = candidate;
    const text = textOf(candidate);
    const staysAlone =
      times.get(text) === 1 ||
      isTooLongForContext(node) ||
      contradictsId !== undefined ||
      node.lifecycleState === "contested" ||
      windows.has(node.id);
    if (staysAlone) {
      kept.set(node.id, candidate);
      continue;
    }
    const key = JSON.stringify([
      text,
      [node.scope, node.sourceType, storedSpeaker(node.metadata), node.eventTime],
      [statusTags(node), seenTags(node), validityLabel(node), olderThan?.nodeId, became],
      [sectionOf(node), ranks.get(node.id)],
    ]);
    const first = kept.get(key);
    if (first === undefined) kept.set(key, candidate);
    else {
      repeats.set(first.node.id, (repeats.get(first.node.id) ?? 1) + 1);
      folded.set(node.id, first.node.id);
    }
  }
  return { kept: [...kept.values()], repeats, folded };
}

/** Empty for a text that is too long for a context. */
function textOf({ node }: ResultCandidate): string {
  return isTooLongForContext(node) ? "" : normalForm("NFC", node.content).trim();
}

/** Best candidates that are compared. */
const COMPARED = 20;

/** When memories were stored that differ in a value and show no time; the reader can decide by it. */
export function storedTimes(candidates: readonly ResultCandidate[]): ReadonlyMap<Uuid, Instant> {
  const compared = candidates
    .filter(({ node }) => node.lifecycleState !== "contested" && !isOfConversation(node))
    .sort(byScore)
    .slice(0, COMPARED)
    .flatMap((candidate) => {
      const statement = statementOf(candidate.node);
      return statement === undefined ? [] : [{ ...candidate, statement }];
    });
  const times = new Map<Uuid, Instant>();
  const tell = ({ node, olderThan }: ResultCandidate) => {
    if (node.eventTime === undefined && olderThan === undefined) times.set(node.id, node.createdAt);
  };
  for (const [at, one] of compared.entries()) {
    for (const other of compared.slice(at + 1)) {
      const isNearly =
        other.node.scope === one.node.scope &&
        storedSpeaker(other.node.metadata) === storedSpeaker(one.node.metadata) &&
        storedTime(other.node.createdAt) !== storedTime(one.node.createdAt) &&
        saysTheSame(one.statement, other.statement);
      if (!isNearly) continue;
      tell(one);
      tell(other);
    }
  }
  return times;
}

/** Whether `outer` shows all of `inner`: same event and status, its text, and at least its times and speaker. */
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

/** Records by event: only records of one event can contain each other. */
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

  /** A record that shows all of the memory. */
  hostOf(node: MemoryNode): R | undefined {
    return this.#sharing(node).find((record) => foldsInto(node, record.node));
  }

  /** Other records that the memory contains. */
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

/** Position in the session window of a trigger, which is at 0. */
export type WindowPlace = { readonly triggerId: Uuid; readonly offset: number };

/** Candidates with a position in a window. */
export function windowPlaces(
  candidates: readonly ResultCandidate[],
): ReadonlyMap<Uuid, WindowPlace> {
  const ids = new Set(candidates.map(({ node }) => node.id));
  const places = new Map<Uuid, WindowPlace>();
  for (const { node, sessionLink } of candidates) {
    if (sessionLink === undefined || !ids.has(sessionLink.triggerId)) continue;
    places.set(node.id, sessionLink);
    if (!places.has(sessionLink.triggerId)) {
      places.set(sessionLink.triggerId, { triggerId: sessionLink.triggerId, offset: 0 });
    }
  }
  return places;
}

/** The index that keeps a window together and in session order; undefined without other members. */
export function placeInWindow(
  records: readonly { readonly window: WindowPlace | undefined }[],
  own: WindowPlace | undefined,
): number | undefined {
  if (own === undefined) return undefined;
  let place: number | undefined;
  for (const [at, { window }] of records.entries()) {
    if (window?.triggerId !== own.triggerId) continue;
    if (window.offset > own.offset) return at;
    place = at + 1;
  }
  return place;
}
