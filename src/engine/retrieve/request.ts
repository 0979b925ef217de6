import {
  parseOptionalInteger,
  parseOptionalList,
  parseOptionalNumber,
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
import { parseInstantInput } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import type { RetrieveInput } from "../inputs.ts";
import type { EngineSettings } from "../settings.ts";

/** A checked question with every default filled in. */
export type RetrievalRequest = {
  readonly query: string;
  readonly filter: CandidateFilter;
  readonly mode: RetrievalMode;
  readonly referenceTime: Instant;
  readonly tokenBudget: number;
  readonly minFidelity: RepresentationLevel;
  readonly minScore: number | undefined;
  readonly limit: number | undefined;
  readonly signal: AbortSignal | undefined;
};

/**
 * Checks a question before any work is done.
 * @throws SvcError invalid_argument
 */
export function parseRequest(
  input: RetrieveInput,
  settings: EngineSettings,
  now: Instant,
): RetrievalRequest {
  const minScore = parseOptionalNumber(input.minScore, "min_score", 0, Number.POSITIVE_INFINITY);
  const limit = parseOptionalInteger(input.limit, "limit", 0);
  const tokenBudget = parseOptionalInteger(input.tokenBudget, "token_budget", 0);
  return {
    query: parseText(input.query, "query"),
    filter: parseFilter(input),
    mode: parseMember(RETRIEVAL_MODES, input.retrievalMode ?? "default", "retrieval_mode"),
    referenceTime: parseInstantInput(input.referenceTime, "reference_time") ?? now,
    tokenBudget: tokenBudget ?? settings.packing.tokenBudget,
    minFidelity: parseMember(
      REPRESENTATION_LEVELS,
      input.minFidelity ?? settings.packing.minFidelity,
      "min_fidelity",
    ),
    minScore,
    limit,
    signal: input.signal,
  };
}

function parseFilter(input: RetrieveInput): CandidateFilter {
  return {
    excludeNodeTypes: parseMembers(NODE_TYPES, input.excludeNodeTypes, "exclude_node_types"),
    sourceTypes: parseMembers(SOURCE_TYPES, input.sourceTypes, "source_types"),
    scopes: parseScopes(input.scope),
    userId: parseUserId(input.userId),
    knowledgeAt: parseInstantInput(input.knowledgeAt, "knowledge_at"),
    eventTimeFrom: parseInstantInput(input.eventTimeFrom, "event_time_from"),
    eventTimeTo: parseInstantInput(input.eventTimeTo, "event_time_to"),
    timeFrom: parseInstantInput(input.timeFrom, "time_from"),
    timeTo: parseInstantInput(input.timeTo, "time_to"),
  };
}

function parseMembers<T extends string>(
  members: readonly T[],
  value: unknown,
  field: string,
): readonly T[] | undefined {
  return parseOptionalList(value, field)?.map((item) => parseMember(members, item, field));
}

function parseScopes(value: RetrieveInput["scope"]): readonly Scope[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return [parseMember(SCOPES, value, "scope")];
  const scopes = parseMembers(SCOPES, value, "scope") ?? [];
  if (scopes.length === 0) throw invalid("scope", "an empty list allows nothing; leave it out");
  return [...new Set(scopes)];
}
