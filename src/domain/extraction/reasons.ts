/** Why a claim, an entity or a part of a claim that a model returned is not kept. Counted under these names. */
export const DROP_REASONS = [
  // What the model returned has not the requested form.
  "malformed",
  "too_many",
  "duplicate",
  "foreign_turn",
  // The text does not have it.
  "quote_not_in_text",
  "subject_not_in_text",
  "object_not_in_text",
  "entity_not_in_text",
  "reference_not_listed",
  "reference_ambiguous",
  // The text says less, or something else.
  "condition_hidden",
  "condition_not_in_text",
  "condition_misplaced",
  "uncertain",
  "not_decided",
  "not_done",
  "negation_lost",
  "negation_invented",
  "not_stated",
  // Somebody else says it, or nobody does.
  "other_person",
  "role_policy",
  "instruction_to_model",
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Why a part of a claim is not kept, while the claim is. */
export const REMOVED_PARTS = [
  "quantity_not_in_text",
  "temporal_ref_not_in_text",
  "replaced_value_not_in_text",
  "update_not_stated",
  "memory_not_shown",
  "condition_not_quoted",
] as const;
export type RemovedPart = (typeof REMOVED_PARTS)[number];

/** How often each reason occurred. Reasons that did not occur are absent. */
export type DropCounts = Readonly<Partial<Record<DropReason | RemovedPart, number>>>;

/** Counts reasons. */
export class DropTally {
  readonly #counts = new Map<DropReason | RemovedPart, number>();

  add(reason: DropReason | RemovedPart, times = 1): void {
    if (times > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + times);
  }

  addAll(counts: DropCounts): void {
    for (const reason of [...DROP_REASONS, ...REMOVED_PARTS]) this.add(reason, counts[reason] ?? 0);
  }

  /** In the order of the catalogues, so that equal counts give equal JSON. */
  get counts(): DropCounts {
    const all = [...DROP_REASONS, ...REMOVED_PARTS];
    return Object.fromEntries(
      all.flatMap((reason) => {
        const times = this.#counts.get(reason);
        return times === undefined ? [] : [[reason, times]];
      }),
    );
  }
}
