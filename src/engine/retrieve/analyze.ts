import type { QueryIntent } from "../../domain/enums.ts";

/** What a question asks for, as far as its wording tells. */
export type QueryAnalysis = {
  readonly query: string;
  readonly intent: QueryIntent;
  /** Names and quoted texts, in order, without repeats. */
  readonly entities: readonly string[];
  /** Whether it asks for a count or a complete list. */
  readonly isAggregation: boolean;
};

/** Whole words, any case, any blanks between them. */
function phrases(list: string): RegExp {
  const words = list
    .split(",")
    .map((phrase) => phrase.trim().replaceAll(" ", "\\s+"))
    .join("|");
  return new RegExp(`\\b(?:${words})\\b`, "i");
}

const LOOKUP_START = /^\s*(?:who|what\s+(?:is|are))\b/i;
const TEMPORAL = phrases(
  "when, last, before, after, recent, recently, ago, yesterday, today, tomorrow, earlier, later, since, until, prior",
);
const RELATIONAL = phrases("related to, connected to, linked to, between, associated with");
const FACTUAL = phrases("what, how, why, does, is it true, fact, facts");

/** Stage 1: reads intent, entities and the aggregation flag from the wording. Pure; the first matching intent wins. */
export function analyze(query: string): QueryAnalysis {
  const entities = findEntities(query);
  return {
    query,
    entities: entities.all,
    intent: intentOf(query, entities.names),
    isAggregation: asksForAll(query),
  };
}

function intentOf(query: string, names: readonly string[]): QueryIntent {
  if (LOOKUP_START.test(query) || names.length > 0) return "entity_lookup";
  if (TEMPORAL.test(query)) return "temporal";
  if (RELATIONAL.test(query)) return "relational";
  return FACTUAL.test(query) ? "factual" : "semantic";
}

// The first word of a sentence is capitalised whatever it is, so no name begins there.
const PROPER_NOUNS = /(?<!^|[.!?]\s)[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*/g;
// A single quote right after a letter or digit is an apostrophe.
const QUOTED = /"([^"]+)"|(?<![\p{L}\p{N}])'([^']+)'/gu;

function findEntities(query: string): { readonly names: string[]; readonly all: string[] } {
  const names = [...query.matchAll(PROPER_NOUNS)].map(([name]) => name);
  const quoted = [...query.matchAll(QUOTED)].map(([, double, single]) => double ?? single ?? "");
  return { names, all: [...new Set([...names, ...quoted])] };
}

const COUNTS = phrases(
  "how many, how much, how often, total, count, all the times, every time, list all, all of the",
);
const ELAPSED =
  /\b(?:how\s+many\s+(?:second|minute|hour|day|week|month|year)s?|how\s+much\s+time)\b[^.!?]{0,50}\b(?:ago|passed|elapsed|before|between|since|until)\b/i;

function asksForAll(query: string): boolean {
  return COUNTS.test(query) && !ELAPSED.test(query);
}
