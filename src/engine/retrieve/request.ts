import {
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
import { LIMITS } from "../../domain/limits.ts";
import type { RankingMultipliers } from "../../domain/records/score.ts";
import type { ScoringWeights } from "../../domain/scoring.ts";
import { scoringVersionId } from "../../domain/scoring-version.ts";
import { parseInstantInput, parseWindow } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import type { EngineSettings } from "../settings.ts";
import type { RetrieveInput } from "./api.ts";
import { parseMultipliers, parseWeights } from "./request-weights.ts";

/** A checked question with every default filled in. */
export type RetrievalRequest = {
  readonly query: string;
  readonly filter: CandidateFilter;
  readonly mode: RetrievalMode;
  /** When the question was asked, regardless of its `referenceTime`. */
  readonly askedAt: Instant;
  readonly referenceTime: Instant;
  readonly tokenBudget: number;
  readonly minFidelity: RepresentationLevel;
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  readonly maxPerSource: number | undefined;
  readonly maxPerEvidence: number | undefined;
  /** The request's own scoring, or the configured one. */
  readonly weights: ScoringWeights;
  /** The identity of `weights`: 12 hexadecimal digits. */
  readonly scoringVersion: string;
  /** Only with weighted fusion. */
  readonly multipliers: RankingMultipliers | undefined;
  /** Whether hints from other scopes are wanted; they need `filter.scopes` too. */
  readonly includeCrossScope: boolean;
  /** Whether a receipt is wanted. */
  readonly keepReceipt: boolean;
  readonly explain: boolean;
  /** The program that asks, if it says so. */
  readonly client: string | undefined;
  readonly signal: AbortSignal | undefined;
};

/**
 * Checks a question before any work is done: the numbers of the selection first, then types, scope, scoring, and the rest.
 * @throws SvcError invalid_argument
 */
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
      ...parseTimes(input),
    },
    mode: parseMember(RETRIEVAL_MODES, input.retrievalMode ?? "default", "retrieval_mode"),
    askedAt: now,
    referenceTime: parseInstantInput(input.referenceTime, "reference_time") ?? now,
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

/** Characters of the name of a client. */
const CLIENT_CHARS = 100;

/** The name of a client as one line; undefined for a blank one. */
function parseClient(value: unknown): string | undefined {
  // Programs name themselves; a malformed name is no reason to refuse their questions.
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
  const knowledgeAt = parseInstantInput(input.knowledgeAt, "knowledge_at");
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
