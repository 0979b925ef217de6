import { sha256Hex } from "../lib/hashing.ts";
import { compareUnits } from "../lib/text.ts";
import type { ChannelFusion, Fusion, ScoringWeights } from "./scoring.ts";

// A file of its own: the page, which has no hash, reads scoring.ts.

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
    .sort(([a], [b]) => compareUnits(a, b))
    .map(([type, factor]) => `${type}=${decimalText(factor)}`);
  const text = [...numbers.map(decimalText), boosts.join(",")].join(":");
  return sha256Hex(text + fusionText(weights.fusion)).slice(0, 12);
}

function fusionText(fusion: Fusion): string {
  if (fusion.kind === "weighted") {
    return fusion.recencyTime === undefined ? "" : `:recency_time=${fusion.recencyTime}`;
  }
  const recency =
    fusion.recencyBoost === undefined ? "" : `:recency=${decimalText(fusion.recencyBoost)}`;
  const tieBreak = fusion.tieBreak === undefined ? "" : `:tie_break=${fusion.tieBreak}`;
  return `:${kindText(fusion)}${recency}${tieBreak}`;
}

function kindText(fusion: ChannelFusion): string {
  if (fusion.kind === "rrf") return `rrf:${fusion.k}`;
  const shares = `${fusion.kind}:${decimalText(fusion.semanticShare)}`;
  return fusion.kind === "relative" ? shares : `${shares}:${decimalText(fusion.fullCoverage)}`;
}

/** The shortest exact form, with `.0` for whole numbers. */
function decimalText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
