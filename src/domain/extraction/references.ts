import { isPersonal } from "./personal.ts";
import type { DropReason } from "./reasons.ts";
import type { ExtractedClaim, ExtractedEntity } from "./result.ts";

/** What a name of a claim stands for among the listed entities. */
export type Reference = "resolved" | "missing" | "ambiguous";

/** Whether exactly one listed identity (name and type) has this name. @param type narrows it down */
export function referenceOf(
  name: string,
  type: string | undefined,
  entities: readonly ExtractedEntity[],
): Reference {
  const identities = new Set(
    entities
      .filter((entity) => key(entity.name) === key(name))
      .filter(({ entityType }) => type === undefined || key(entityType) === key(type))
      .map(({ entityType }) => key(entityType)),
  );
  if (identities.size === 0) return "missing";
  return identities.size === 1 ? "resolved" : "ambiguous";
}

/** Why the names of a claim do not lead to listed entities. Personal words need not be listed. */
export function referenceProblem(
  claim: ExtractedClaim,
  entities: readonly ExtractedEntity[],
): DropReason | undefined {
  const { subject, object, subjectEntityType, objectEntityType } = claim;
  const problem = endProblem(subject, subjectEntityType, entities);
  if (problem !== undefined) return problem;
  const reference = referenceOf(object, objectEntityType, entities);
  // The object of a fact is mostly a value, and values are not listed.
  const isChecked =
    claim.kind === "relationship" || objectEntityType !== undefined || reference === "ambiguous";
  return isChecked ? endProblem(object, objectEntityType, entities) : undefined;
}

function endProblem(
  name: string,
  type: string | undefined,
  entities: readonly ExtractedEntity[],
): DropReason | undefined {
  const reference = referenceOf(name, type, entities);
  if (reference === "resolved") return undefined;
  if (reference === "ambiguous") return "reference_ambiguous";
  return isPersonal(name, type) ? undefined : "reference_not_listed";
}

function key(text: string): string {
  return text.trim().toLowerCase();
}
