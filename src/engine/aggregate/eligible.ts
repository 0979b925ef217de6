import { type Claim, normaliseClaim, normalisePredicate, readClaim } from "../../domain/claims.ts";
import { ACTIVE_STATES, LIFECYCLE_STATES, type LifecycleState } from "../../domain/enums.ts";
import { epistemicExclusion } from "../../domain/epistemics.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { RecordFilter } from "../../domain/records/aggregation.ts";
import type { Instant } from "../../lib/instant.ts";
import { normaliseText } from "../../lib/normal-text.ts";

/** A claim as written in its memory, and as it is compared. */
export type SpelledClaim = { readonly claim: Claim; readonly normal: Claim };

/** Returns the claim of a memory that passes, else the first reason why it does not. */
export type ClaimReader = (node: MemoryNode) => SpelledClaim | string;

export function statesOf(
  filter: Pick<RecordFilter, "lifecycleStates" | "retrievalMode">,
): readonly LifecycleState[] {
  if (filter.lifecycleStates !== undefined) return filter.lifecycleStates;
  return filter.retrievalMode === "explicit" ? LIFECYCLE_STATES : ACTIVE_STATES;
}

/** Whether a memory is valid at a moment: the start is inclusive, the end exclusive. */
export function isValidAt(
  { validFrom, validTo }: Pick<MemoryNode, "validFrom" | "validTo">,
  moment: Instant,
): boolean {
  return validFrom <= moment && (validTo === undefined || moment < validTo);
}

/**
 * Reads the claims that pass a filter.
 * @param prefixes a predicate also passes if it equals one of them or continues it with `_`
 */
export function createClaimReader(
  filter: RecordFilter,
  unverifiedThreshold: number,
  prefixes: readonly string[] = [],
): ClaimReader {
  const limits = { unverifiedThreshold, excludesThreshold: true };
  const isSelected = createSelector(filter, prefixes);
  return (node) => {
    if (filter.retrievalMode === "default") {
      const reason = epistemicExclusion(node, limits);
      if (reason !== undefined) return reason;
    }
    const untimely = timeExclusion(node, filter);
    if (untimely !== undefined) return untimely;
    const claim = readClaim(node.metadata);
    if (claim === undefined) return "missing_structured_assertion";
    const normal = normaliseClaim(claim);
    return isSelected(normal) ? { claim, normal } : "selector_mismatch";
  };
}

function timeExclusion(node: MemoryNode, filter: RecordFilter): string | undefined {
  const { knowledgeAt, validAt, eventTimeFrom, eventTimeTo } = filter;
  if (knowledgeAt !== undefined && node.createdAt > knowledgeAt) return "after_knowledge_cutoff";
  if (validAt !== undefined && !isValidAt(node, validAt)) return "outside_validity_window";
  if (eventTimeFrom === undefined && eventTimeTo === undefined) return undefined;
  if (node.eventTime === undefined) return "missing_event_time";
  if (eventTimeFrom !== undefined && node.eventTime < eventTimeFrom) {
    return "before_event_time_window";
  }
  return eventTimeTo !== undefined && node.eventTime > eventTimeTo
    ? "after_event_time_window"
    : undefined;
}

function createSelector(filter: RecordFilter, prefixes: readonly string[]) {
  const subjects = choiceOf(filter.subjects.map(normaliseText));
  const objects = choiceOf(filter.objects.map(normaliseText));
  const polarities = choiceOf(filter.polarities.map(normaliseText));
  const predicates = new Set(filter.predicates.map(normalisePredicate));
  const families = prefixes.map(normalisePredicate);
  const isAnyPredicate = predicates.size === 0 && families.length === 0;
  return ({ subject, predicate, object, polarity }: Claim): boolean =>
    polarities(polarity) &&
    subjects(subject) &&
    objects(object) &&
    (isAnyPredicate ||
      predicates.has(predicate) ||
      families.some((family) => predicate === family || predicate.startsWith(`${family}_`)));
}

/** Whether a text is one of these; without any, every text is. */
export function choiceOf(texts: readonly string[]): (text: string) => boolean {
  const chosen = new Set(texts);
  return chosen.size === 0 ? () => true : (text) => chosen.has(text);
}
