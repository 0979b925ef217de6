import { sha256Hex } from "../lib/hashing.ts";
import type { NodeType } from "./enums.ts";

/** Everything that decides a score. Two sets with one version give the same scores for the same candidates. */
export type ScoringWeights = {
  readonly semantic: number;
  readonly lexical: number;
  readonly graph: number;
  readonly recency: number;
  readonly salience: number;
  readonly confidence: number;
  readonly epistemic: number;
  readonly paths: number;
  readonly recencyLambda: number;
  readonly temporalBoost: number;
  readonly relevanceFloor: number;
  readonly currentUpdateMultiplier: number;
  readonly nodeTypeBoost: Readonly<Partial<Record<NodeType, number>>>;
  readonly fusion:
    | { readonly kind: "weighted"; readonly recencyTime: "event_time" | undefined }
    | {
        readonly kind: "rrf";
        /** 1 to 10000. */
        readonly k: number;
        readonly recencyBoost: number | undefined;
        readonly tieBreak: "event_time" | undefined;
      };
};

/** The identity of a set of scoring settings: the first 12 hexadecimal digits of a SHA-256. */
export function scoringVersionId(weights: ScoringWeights): string {
  const numbers = [
    weights.semantic,
    weights.lexical,
    weights.graph,
    weights.recency,
    weights.salience,
    weights.confidence,
    weights.epistemic,
    weights.paths,
    weights.recencyLambda,
    weights.temporalBoost,
    weights.relevanceFloor,
    weights.currentUpdateMultiplier,
  ];
  const boosts = Object.entries(weights.nodeTypeBoost)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([type, factor]) => `${type}=${decimalText(factor)}`);
  const text = [...numbers.map(decimalText), boosts.join(",")].join(":");
  return sha256Hex(text + fusionText(weights.fusion)).slice(0, 12);
}

function fusionText(fusion: ScoringWeights["fusion"]): string {
  if (fusion.kind === "weighted") {
    return fusion.recencyTime === undefined ? "" : `:recency_time=${fusion.recencyTime}`;
  }
  const recency =
    fusion.recencyBoost === undefined ? "" : `:recency=${decimalText(fusion.recencyBoost)}`;
  const tieBreak = fusion.tieBreak === undefined ? "" : `:tie_break=${fusion.tieBreak}`;
  return `:rrf:${fusion.k}${recency}${tieBreak}`;
}

/** The shortest exact form, with `.0` for whole numbers. */
function decimalText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
