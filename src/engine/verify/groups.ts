import { compareCodePoints } from "../../lib/text.ts";
import type { Entailment } from "../../ports/text-pairs.ts";
import type { EvidenceGroup } from "./api.ts";
import type { ReadEvidence } from "./guards.ts";

/** Evidence that is read together, in the given order. */
export type PremiseGroup = readonly ReadEvidence[];

/** The model's input for a group: the text alone, or one numbered line per memory. */
export function premiseOf(texts: readonly string[]): string {
  const [only, ...more] = texts;
  if (more.length === 0) return only ?? "";
  return texts.map((text, at) => `[E${at + 1}] ${text}`).join("\n");
}

/** How results refer to a group. */
export function namesOf(group: PremiseGroup): EvidenceGroup {
  return {
    references: group.map(({ evidence }) => evidence.reference),
    memoryIds: group.map(({ evidence }) => evidence.memoryId),
  };
}

/** Every group of `size` among the strongest pieces, for or against, each in the order of the evidence. */
export function groupsOf(
  scored: readonly { readonly item: ReadEvidence; readonly scores: Entailment }[],
  size: number,
  limit: number,
): readonly PremiseGroup[] {
  const strength = ({ entailment, contradiction }: Entailment): number =>
    Math.max(entailment, contradiction);
  const best = new Set(
    [...scored]
      .sort((a, b) => strength(b.scores) - strength(a.scores))
      .slice(0, limit)
      .map(({ item }) => item),
  );
  const candidates = scored.map(({ item }) => item).filter((item) => best.has(item));
  return combinations(candidates, size);
}

function combinations(items: readonly ReadEvidence[], size: number): readonly PremiseGroup[] {
  if (size === 0) return [[]];
  return items.flatMap((item, at) =>
    combinations(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]),
  );
}

/** A group that decides, and the model's probability. */
export type Finding<B> = {
  readonly group: PremiseGroup;
  /** 0 to 1. */
  readonly probability: number;
  readonly basis: B;
};

/** The finding with the fewest memories, then the highest probability, then the first by id; undefined for none. */
export function bestFinding<B>(findings: readonly Finding<B>[]): Finding<B> | undefined {
  const ids = ({ group }: Finding<B>): string =>
    group.map(({ evidence }) => evidence.memoryId).join("\n");
  return [...findings].sort(
    (a, b) =>
      a.group.length - b.group.length ||
      b.probability - a.probability ||
      compareCodePoints(ids(a), ids(b)),
  )[0];
}
