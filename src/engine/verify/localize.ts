import { sha256Hex } from "../../lib/hashing.ts";
import type { LocalizedAssessment } from "./api.ts";
import { namesOf, type PremiseGroup, premiseOf } from "./groups.ts";
import {
  type ClaimWording,
  isTypeCompatible,
  maySegmentSupport,
  type ReadSegment,
} from "./guards.ts";
import type { Judge } from "./judge.ts";

type Numbered = { readonly segment: ReadSegment; readonly number: number };

/** Reads blocked groups again, without the segments that may not support the claim; groups with none left are not read. */
export async function localize(
  judge: Judge,
  claim: ClaimWording,
  groups: readonly PremiseGroup[],
): Promise<readonly LocalizedAssessment[]> {
  const parts = groups.map((group) => partOf(claim, group));
  const premises = parts.flatMap(({ premise }) => (premise === undefined ? [] : [premise]));
  const scores = [...(await judge.judge(premises))];
  return parts.map(({ group, numbers, premise }) => ({
    ...namesOf(group),
    includedSegmentNumbers: numbers,
    premiseSha256: premise === undefined ? undefined : sha256Hex(premise),
    modelCalled: premise !== undefined,
    scores: premise === undefined ? undefined : scores.shift(),
  }));
}

function partOf(claim: ClaimWording, group: PremiseGroup) {
  let count = 0;
  const kept = group.map(({ evidence, segments }) => {
    const numbered: Numbered[] = segments.map((segment) => {
      count += 1;
      return { segment, number: count };
    });
    return isTypeCompatible(claim, evidence)
      ? numbered.filter(({ segment }) => maySegmentSupport(claim, segment))
      : [];
  });
  const numbers = kept.flat().map(({ number }) => number);
  const texts = kept
    .filter((parts) => parts.length > 0)
    .map((parts) => parts.map(({ segment }) => segment.text).join("\n"));
  return { group, numbers, premise: numbers.length === 0 ? undefined : premiseOf(texts) };
}
