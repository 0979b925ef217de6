import type { QueryIntent } from "../../../domain/enums.ts";
import type { ContextFormat, GuidanceMode } from "../../../domain/records/packing.ts";
import type { Instant } from "../../../lib/instant.ts";
import { isoTime } from "./times.ts";

/** What a question is about, as far as it affects how its records are to be read. */
export type QuestionKind = "temporal" | "aggregation" | "current_state" | "default";

export type Question = {
  readonly query: string;
  readonly intent: QueryIntent;
  readonly isAggregation: boolean;
};

/** Any of some phrases as whole words, in any case, with any white space between words. */
function phrases(...alternatives: readonly string[]): RegExp {
  const words = alternatives.join("|").replaceAll(" ", "\\s+");
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${words})(?![\\p{L}\\p{N}_])`, "iu");
}

const TIME_UNIT = "(?:second|minute|hour|day|week|month|year)s?";

/** Up to this many characters of one sentence, between two words. */
function within(chars: number): string {
  return `(?![\\p{L}\\p{N}_])[^.!?]{0,${chars}}(?<![\\p{L}\\p{N}_])`;
}

const ELAPSED_OR_EXTREME = phrases(
  `how many ${TIME_UNIT} (?:ago|(?:(?:had|have) )?passed|before|between|since)`,
  "how long",
  `(?:which|what|who)${within(100)}(?:first|earliest|latest|most recently)`,
  `(?:order|sequence)${within(100)}(?:first|last|earliest|latest)`,
);
const COUNTING = phrases("how many", "how much", "total", "count", "list all", "sum");
const PRESENT = phrases(
  "current",
  "currently",
  "now",
  "presently",
  "these days",
  "most recently",
  "right now",
  "after (?:[\\p{L}\\p{N}_]+ )?(?:recent|latest)",
  "do i (?:have|keep|use|own|play|work)",
);
const TIMES = phrases(
  "when",
  "before",
  "after",
  "ago",
  "first",
  "last",
  "order",
  "earliest",
  "latest",
  "how long",
  "how many (?:days|weeks|months|years)",
);
const ADVICE = phrases(
  "recommend",
  "suggest",
  "tips?",
  "ideas?",
  `what${within(60)}should i`,
  "what (?:could|can) i",
  "help me (?:choose|pick|plan)",
);

/** The first matching kind; time spans and extremes before counts, since "how many days ago" counts nothing. */
export function questionKind({ query, intent, isAggregation }: Question): QuestionKind {
  if (ELAPSED_OR_EXTREME.test(query)) return "temporal";
  if (isAggregation || COUNTING.test(query)) return "aggregation";
  if (PRESENT.test(query)) return "current_state";
  return intent === "temporal" || TIMES.test(query) ? "temporal" : "default";
}

const CURRENT_STATE =
  "CURRENT-STATE TASK: Go by updates that a record states outright and that nothing refutes. Being newer does not by itself settle a contradiction; where one is open, say so.";
const PERSONALIZATION =
  "PERSONALIZATION TASK: Build on what the owner of these records did, chose and liked. What a record says of somebody else is not true of the owner.";

/**
 * Lines that tell the model how to read the records for this kind of question; undefined if there is nothing to say. They contain
 * no text of question or memory. Mode `temporal` applies only to questions about time; `all` also to those about the present and
 * for advice.
 */
export function guidanceFor({
  mode,
  format,
  referenceTime,
  ...question
}: Question & {
  readonly mode: GuidanceMode;
  readonly format: ContextFormat;
  readonly referenceTime: Instant;
}): string | undefined {
  if (mode === "off") return undefined;
  const kind = questionKind(question);
  const time = `QUESTION TIME: ${isoTime(referenceTime)}`;
  if (kind === "temporal") return `${time}\n${temporalTask(format)}`;
  if (mode === "temporal") return undefined;
  if (kind === "current_state") return `${time}\n${CURRENT_STATE}`;
  return ADVICE.test(question.query) ? PERSONALIZATION : undefined;
}

function temporalTask(format: ContextFormat): string {
  const anchor =
    format === "reader"
      ? "the date label of that record, or from a date at the start of its text where there is no label"
      : "the event_time of that record";
  return `TEMPORAL TASK: A relative date in a record, such as "yesterday", counts from ${anchor}. Write out the subtraction when a span is asked for. Answer as things stand at QUESTION TIME.`;
}
