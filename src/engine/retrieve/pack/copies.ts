import { LIMITS } from "../../../domain/limits.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { statementOf } from "../../../domain/replacement.ts";
import { saysTheSame } from "../../../domain/same-saying.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Instant } from "../../../lib/instant.ts";
import { normalForm } from "../../../lib/normal-form.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ResultCandidate } from "../api.ts";
import { byScore } from "../score/order.ts";
import { seenTags, statusTags, validityLabel } from "./reader-line.ts";
import type { WindowPlace } from "./session-windows.ts";
import { sectionOf } from "./tiers.ts";
import { storedTime } from "./times.ts";

/** Candidates of which each text is there once. */
export type WithoutCopies = {
  readonly kept: readonly ResultCandidate[];
  /** How many have the text of a kept one, itself included; only where there are several. */
  readonly repeats: ReadonlyMap<Uuid, number>;
  /** The others, each with the kept one. */
  readonly folded: ReadonlyMap<Uuid, Uuid>;
};

/**
 * Keeps the best of those whose lines would say the same at the same place, which a loop stores again and again. Sides of a
 * dispute stay.
 * @param ranks see `packingRanks`
 * @param windows see `windowPlaces`: members stay
 */
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
    const { node, contradictsId, olderThan } = candidate;
    const text = textOf(candidate);
    const staysAlone =
      times.get(text) === 1 ||
      node.content.length > LIMITS.contextTextChars ||
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
      [statusTags(node), seenTags(node), validityLabel(node), olderThan?.nodeId],
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

/** What is compared of a text; nothing of one that is too long for a context. */
function textOf({ node: { content } }: ResultCandidate): string {
  return content.length > LIMITS.contextTextChars ? "" : normalForm("NFC", content).trim();
}

/** Whether it was said in a conversation, where much is said alike. */
function isTurn({ nodeType, sessionId }: MemoryNode): boolean {
  return nodeType === "note" && sessionId !== undefined;
}

/** Candidates that are compared with one another, the best. */
const COMPARED = 20;

/**
 * When those were stored that say nearly the same as another one with another value, and that show no time: a reader can decide by
 * it. Not turns of a conversation, not those that are marked as outdated or contested, and none that were stored within one second.
 */
export function storedTimes(candidates: readonly ResultCandidate[]): ReadonlyMap<Uuid, Instant> {
  const compared = candidates
    .filter(({ node }) => node.lifecycleState !== "contested" && !isTurn(node))
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
