import { parseOptionalInteger, parseOptionalNumber } from "../../domain/arguments.ts";
import { NODE_TYPES, type NodeType, parseMember } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import type { RankingMultipliers } from "../../domain/records/score.ts";
import { type Fusion, requireScoringWeights, type ScoringWeights } from "../../domain/scoring.ts";
import {
  DEFAULT_FULL_COVERAGE,
  DEFAULT_RRF_K,
  DEFAULT_SCORING,
  DEFAULT_SEMANTIC_SHARE,
} from "../../domain/scoring-defaults.ts";

type Given = Readonly<Record<string, unknown>>;

/** The weights that a request may multiply. */
const MULTIPLIED = [
  "semantic",
  "lexical",
  "graph",
  "recency",
  "salience",
  "confidence",
] as const satisfies readonly (keyof RankingMultipliers)[];

const FUSION_KINDS = ["weighted", "rrf", "relative", "adaptive"] as const;
const FUSION_MEMBERS = [
  "kind",
  "recencyTime",
  "k",
  "semanticShare",
  "fullCoverage",
  "recencyBoost",
  "tieBreak",
];

/**
 * The scoring that a request specifies. Missing members have the defaults of a caller who leaves everything out, and members that
 * its fusion does not read are dropped.
 * @throws SvcError invalid_argument naming the member, for example `weights.recencyLambda`
 */
export function parseWeights(value: unknown): ScoringWeights | undefined {
  const given = parseObject(value, "weights", Object.keys(DEFAULT_SCORING));
  if (given === undefined) return undefined;
  const number = (name: Exclude<keyof ScoringWeights, "nodeTypeBoost" | "fusion">) =>
    parseFinite(given[name], `weights.${name}`) ?? DEFAULT_SCORING[name];
  const weights: ScoringWeights = {
    semantic: number("semantic"),
    lexical: number("lexical"),
    graph: number("graph"),
    recency: number("recency"),
    salience: number("salience"),
    confidence: number("confidence"),
    epistemic: number("epistemic"),
    paths: number("paths"),
    recencyLambda: number("recencyLambda"),
    temporalBoost: number("temporalBoost"),
    relevanceFloor: number("relevanceFloor"),
    currentUpdateMultiplier: number("currentUpdateMultiplier"),
    nodeTypeBoost: parseNodeTypeBoost(given["nodeTypeBoost"]) ?? DEFAULT_SCORING.nodeTypeBoost,
    fusion: parseFusion(given["fusion"]) ?? DEFAULT_SCORING.fusion,
  };
  requireScoringWeights(weights);
  return weights;
}

function parseNodeTypeBoost(value: unknown): ScoringWeights["nodeTypeBoost"] | undefined {
  const field = "weights.nodeTypeBoost";
  const given = parseObject(value, field, NODE_TYPES);
  if (given === undefined) return undefined;
  const boosts: Partial<Record<NodeType, number>> = {};
  for (const type of NODE_TYPES) {
    const boost = parseFinite(given[type], `${field}.${type}`);
    if (boost !== undefined) boosts[type] = boost;
  }
  return boosts;
}

function parseFusion(value: unknown): Fusion | undefined {
  const field = "weights.fusion";
  const given = parseObject(value, field, FUSION_MEMBERS);
  if (given === undefined) return undefined;
  const eventTime = (name: string) =>
    isAbsent(given[name])
      ? undefined
      : parseMember(["event_time"], given[name], `${field}.${name}`);
  const kind = parseMember(FUSION_KINDS, given["kind"], `${field}.kind`);
  if (kind === "weighted") return { kind, recencyTime: eventTime("recencyTime") };
  const shared = {
    recencyBoost: parseFinite(given["recencyBoost"], `${field}.recencyBoost`),
    tieBreak: eventTime("tieBreak"),
  };
  if (kind === "rrf") {
    const k = parseOptionalInteger(given["k"], `${field}.k`, 1, 10_000);
    return { kind, k: k ?? DEFAULT_RRF_K, ...shared };
  }
  const semanticShare =
    parseFinite(given["semanticShare"], `${field}.semanticShare`) ?? DEFAULT_SEMANTIC_SHARE;
  if (kind === "relative") return { kind, semanticShare, ...shared };
  const fullCoverage = parseFinite(given["fullCoverage"], `${field}.fullCoverage`);
  return {
    kind,
    semanticShare,
    fullCoverage: fullCoverage ?? DEFAULT_FULL_COVERAGE,
    ...shared,
  };
}

/**
 * Factors on the weights for one request; a missing factor is 1.
 * @returns undefined if none were given, or if they are all 1 and the fusion does not use them
 * @throws SvcError invalid_argument naming the factor, or if some are not 1 and the fusion reads no weights
 */
export function parseMultipliers(value: unknown, fusion: Fusion): RankingMultipliers | undefined {
  const field = "ranking_multipliers";
  const given = parseObject(value, field, MULTIPLIED);
  if (given === undefined) return undefined;
  const factor = (name: keyof RankingMultipliers) =>
    parseOptionalNumber(given[name], `${field}.${name}`, 0.25, 4) ?? 1;
  const multipliers: RankingMultipliers = {
    semantic: factor("semantic"),
    lexical: factor("lexical"),
    graph: factor("graph"),
    recency: factor("recency"),
    salience: factor("salience"),
    confidence: factor("confidence"),
  };
  if (fusion.kind === "weighted") return multipliers;
  if (MULTIPLIED.every((name) => multipliers[name] === 1)) return undefined;
  throw invalid(
    field,
    `have no meaning with fusion ${fusion.kind}, which reads no weights; leave them out, or set scoring.fusion to weighted`,
  );
}

function parseFinite(value: unknown, field: string): number | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw invalid(field, `${String(value)} is not a finite number`);
}

/** An object with no members other than these, or undefined when absent. */
function parseObject(value: unknown, field: string, members: readonly string[]): Given | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(field, "must be an object");
  }
  const given: Given = { ...value };
  const unknown = Object.keys(given).find((key) => !members.includes(key));
  if (unknown !== undefined) {
    throw invalid(`${field}.${unknown}`, `is not one of ${members.join(", ")}`);
  }
  return given;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
