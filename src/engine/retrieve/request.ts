import {
  LIMITS,
  parseOptionalBoolean,
  parseOptionalInteger,
  parseOptionalMembers,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import {
  NODE_TYPES,
  type NodeType,
  parseMember,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  type RepresentationLevel,
  type RetrievalMode,
  SCOPES,
  type Scope,
  SOURCE_TYPES,
} from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { parseInstantInput, parseWindow } from "../../domain/lifecycle.ts";
import type { RankingMultipliers } from "../../domain/records/score.ts";
import {
  DEFAULT_FULL_COVERAGE,
  DEFAULT_RRF_K,
  DEFAULT_SCORING,
  DEFAULT_SEMANTIC_SHARE,
  type Fusion,
  requireScoringWeights,
  type ScoringWeights,
} from "../../domain/scoring.ts";
import { scoringVersionId } from "../../domain/scoring-version.ts";
import type { Instant } from "../../lib/instant.ts";
import type { EngineSettings } from "../settings.ts";
import type { RetrieveInput } from "./api.ts";
import { eachMultiplied } from "./score/score.ts";

/** A checked question with its defaults. */
export type RetrievalRequest = {
  readonly query: string;
  readonly filter: CandidateFilter;
  readonly mode: RetrievalMode;
  /** Now, or the earlier moment asked about; independent of `referenceTime`. */
  readonly askedAt: Instant;
  readonly referenceTime: Instant;
  readonly tokenBudget: number;
  readonly minFidelity: RepresentationLevel;
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  readonly maxPerSource: number | undefined;
  readonly maxPerEvidence: number | undefined;
  /** The request's own, else the configured ones. */
  readonly weights: ScoringWeights;
  /** Identifies `weights`: 12 hexadecimal digits. */
  readonly scoringVersion: string;
  /** Only with weighted fusion. */
  readonly multipliers: RankingMultipliers | undefined;
  /** Needs `filter.scopes` too. */
  readonly includeCrossScope: boolean;
  readonly keepReceipt: boolean;
  readonly explain: boolean;
  /** The program that asks. */
  readonly client: string | undefined;
  readonly signal: AbortSignal | undefined;
};

/** @throws SvcError invalid_argument, for the first wrong member: selection, types, scope, scoring, then the rest */
export function parseRequest(
  input: RetrieveInput,
  settings: EngineSettings,
  now: Instant,
): RetrievalRequest {
  const selection = parseSelection(input);
  const excludeNodeTypes = parseOptionalMembers(
    NODE_TYPES,
    input.excludeNodeTypes,
    "exclude_node_types",
  );
  const sourceTypes = parseOptionalMembers(SOURCE_TYPES, input.sourceTypes, "source_types");
  const scopes = parseScopes(input.scope);
  const times = parseTimes(input);
  const { knowledgeAt = now } = times;
  const askedAt = knowledgeAt < now ? knowledgeAt : now;
  const ownWeights = parseWeights(input.weights);
  const weights = ownWeights ?? settings.scoring;
  const multipliers = parseMultipliers(input.rankingMultipliers, weights.fusion);
  return {
    query: parseQuery(input.query),
    filter: {
      excludeNodeTypes,
      sourceTypes,
      scopes,
      userId: parseUserId(input.userId),
      ...times,
    },
    mode: parseMember(RETRIEVAL_MODES, input.retrievalMode ?? "default", "retrieval_mode"),
    askedAt,
    referenceTime: parseInstantInput(input.referenceTime, "reference_time") ?? askedAt,
    tokenBudget: Math.min(
      selection.tokenBudget ?? settings.packing.tokenBudget,
      LIMITS.contextTokensMax,
    ),
    minFidelity: parseMember(
      REPRESENTATION_LEVELS,
      input.minFidelity ?? settings.packing.minFidelity,
      "min_fidelity",
    ),
    minScore: selection.minScore,
    limit: selection.limit,
    maxPerSource: selection.maxPerSource,
    maxPerEvidence: selection.maxPerEvidence,
    weights,
    scoringVersion:
      ownWeights === undefined ? settings.scoringVersion : scoringVersionId(ownWeights),
    multipliers,
    includeCrossScope: parseOptionalBoolean(input.includeCrossScope, "include_cross_scope") ?? true,
    explain: parseOptionalBoolean(input.explain, "explain") ?? false,
    keepReceipt: parseOptionalBoolean(input.keepReceipt, "keep_receipt") ?? true,
    client: parseClient(input.client),
    signal: input.signal,
  };
}

function parseQuery(value: unknown): string {
  const query = parseText(value, "query");
  if (query.length <= LIMITS.queryMaxChars) return query;
  let length = 0;
  for (const _ of query) length += 1;
  if (length <= LIMITS.queryMaxChars) return query;
  throw invalid(
    "query",
    `has ${length} characters; a question may have at most ${LIMITS.queryMaxChars}`,
  );
}

const CLIENT_CHARS = 100;

/** One line; undefined if blank. */
function parseClient(value: unknown): string | undefined {
  // A malformed program name must not fail a question.
  const given = typeof value === "string" ? value.toWellFormed() : value;
  const name = (parseOptionalText(given, "client") ?? "").replace(/[\p{Cc}\s]+/gu, " ").trim();
  return name === "" ? undefined : [...name].slice(0, CLIENT_CHARS).join("");
}

function parseSelection(input: RetrieveInput) {
  return {
    minScore: parseOptionalNumber(input.minScore, "min_score", 0, Number.POSITIVE_INFINITY),
    limit: parseOptionalInteger(input.limit, "limit", 0),
    maxPerSource: parseOptionalInteger(input.maxPerSource, "max_per_source", 1),
    maxPerEvidence: parseOptionalInteger(input.maxPerEvidence, "max_per_evidence", 1),
    tokenBudget: parseOptionalInteger(input.tokenBudget, "token_budget", 0),
  };
}

function parseTimes(input: RetrieveInput) {
  const asOf = parseInstantInput(input.asOf, "as_of");
  const knowledgeAt = parseInstantInput(input.knowledgeAt, "knowledge_at") ?? asOf;
  if (asOf !== undefined && asOf !== knowledgeAt) {
    throw invalid(
      "as_of",
      "names another moment than knowledge_at, which means the same; give one",
    );
  }
  const happened = parseWindow(input.eventTimeFrom, input.eventTimeTo, "event_time");
  const valid = parseWindow(input.timeFrom, input.timeTo, "time");
  return {
    knowledgeAt,
    eventTimeFrom: happened.from,
    eventTimeTo: happened.to,
    timeFrom: valid.from,
    timeTo: valid.to,
  };
}

function parseScopes(value: RetrieveInput["scope"]): readonly Scope[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return [parseMember(SCOPES, value, "scope")];
  const scopes = parseOptionalMembers(SCOPES, value, "scope") ?? [];
  if (scopes.length === 0) throw invalid("scope", "an empty list allows nothing; leave it out");
  return scopes;
}

type Given = Readonly<Record<string, unknown>>;

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

/** Missing members get the defaults; members that the fusion does not read are dropped. @throws SvcError invalid_argument */
function parseWeights(value: unknown): ScoringWeights | undefined {
  const given = parseObject(value, "weights", Object.keys(DEFAULT_SCORING));
  if (given === undefined) return undefined;
  const { nodeTypeBoost, fusion, ...numbers } = DEFAULT_SCORING;
  const own = Object.entries(numbers).map(([name, otherwise]) => [
    name,
    parseFinite(given[name], `weights.${name}`) ?? otherwise,
  ]);
  const weights: ScoringWeights = {
    // SAFETY: a number for each name.
    ...(Object.fromEntries(own) as typeof numbers),
    nodeTypeBoost: parseNodeTypeBoost(given["nodeTypeBoost"]) ?? nodeTypeBoost,
    fusion: parseFusion(given["fusion"]) ?? fusion,
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
 * Missing factors are 1. Undefined: all are 1 and have no effect.
 * @throws SvcError invalid_argument, also if the fusion reads no weights
 */
function parseMultipliers(value: unknown, fusion: Fusion): RankingMultipliers | undefined {
  const field = "ranking_multipliers";
  const given = parseObject(value, field, Object.keys(eachMultiplied(() => 1)));
  if (given === undefined) return undefined;
  const multipliers = eachMultiplied(
    (name) => parseOptionalNumber(given[name], `${field}.${name}`, 0.25, 4) ?? 1,
  );
  if (fusion.kind === "weighted") return multipliers;
  if (Object.values(multipliers).every((factor) => factor === 1)) return undefined;
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

/** Rejects other members; undefined when absent. */
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
