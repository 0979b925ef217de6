import type { QueryIntent, RepresentationLevel } from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import { storedValueBindings } from "../../../domain/metadata.ts";
import type {
  ContextFormat,
  GuidanceMode,
  PackingSettings,
} from "../../../domain/records/retrieval-record.ts";
import type { Instant } from "../../../lib/instant.ts";
import { withoutInvisible } from "../../../lib/invisible.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/models.ts";
import { phrase } from "../analyze.ts";
import type { MemoryBundle, PackedRecord, ResultCandidate, VisibleBinding } from "../api.ts";
import {
  contextHeader,
  isoTime,
  type LevelForm,
  type LineFormat,
  showsReferences,
} from "./record-line.ts";
import { type ContextMeter, type MeteredLine, STORED_TEXTS, sectionHeading } from "./sections.ts";

export type PackRules = {
  /** The whole budget in tokens. */
  readonly tokenBudget: number;
  /** The lowest level allowed. */
  readonly minFidelity: RepresentationLevel;
  readonly settings: PackingSettings;
  /** What the records do not cover; comes first. Without room for it the context is empty. */
  readonly notice: string | undefined;
  /** Reading guidance; left out if it does not fit. */
  readonly guidance: string | undefined;
  /** Whether weak results far behind strong ones are packed, too. Default false. */
  readonly keepsWeak?: boolean;
};

export type PlacedRecord = MeteredLine & {
  readonly candidate: ResultCandidate;
  readonly reference: string;
  readonly form: LevelForm;
  /** Number of memories with its text; undefined for one. */
  readonly repeats: number | undefined;
};

type PackingOutcome = {
  /** The results by score. */
  readonly sorted: readonly ResultCandidate[];
  readonly tokenizer: Tokenizer;
  readonly rules: PackRules;
  readonly format: LineFormat;
  /** Tokens for the complete text. */
  readonly available: number;
  /** Undefined: the notice did not fit. */
  readonly meter: ContextMeter<PlacedRecord> | undefined;
  /** Left out because they have no text. */
  readonly blank?: ReadonlySet<Uuid>;
  /** Left out because they are weak and far behind. */
  readonly weak?: ReadonlySet<Uuid>;
  /** Left out because another record contains its text, with that record. */
  readonly folded?: ReadonlyMap<Uuid, Uuid>;
  /** The least budget for one record, if none fits. */
  readonly neededTokens?: number | undefined;
  /** Left out because the other side of the dispute did not fit. */
  readonly oneSided?: ReadonlySet<Uuid>;
};

export function toBundle(outcome: PackingOutcome): MemoryBundle {
  const { rules, format, available, meter } = outcome;
  const isCited = showsReferences(format);
  const sections = new Map(
    [...(meter?.sections ?? [])].map(([name, records]) => [
      name,
      records.map((record) => toPackedRecord(record, isCited)),
    ]),
  );
  const records = [...sections.values()].flat();
  const included = new Set(records.map(({ candidate }) => candidate.node.id));
  const guidance = guidanceThatFits(outcome);
  const parts = {
    sections,
    header: meter && included.size > 0 ? contextHeader(format, meter.namesSpeakers) : undefined,
    coverageNotice: meter === undefined ? undefined : rules.notice,
    contextGuidance: guidance?.text,
  };
  const excludedIds = outcome.sorted.map(({ node }) => node.id).filter((id) => !included.has(id));
  const tokensUsed = guidance?.total ?? meter?.total ?? 0;
  return {
    ...parts,
    includedCount: included.size,
    excludedIds,
    folded: new Map(
      [...(outcome.folded ?? [])]
        .map(([id, host]) => [id, lastHost(host, outcome.folded)] as const)
        .filter(([, host]) => included.has(host)),
    ),
    neededTokens: included.size === 0 ? outcome.neededTokens : undefined,
    blankIds: excludedIds.filter((id) => outcome.blank?.has(id) === true),
    weakIds: excludedIds.filter((id) => outcome.weak?.has(id) === true),
    oneSidedIds: excludedIds.filter((id) => outcome.oneSided?.has(id) === true),
    tokensUsed,
    tokenBudget: rules.tokenBudget,
    budgetRemaining: available - tokensUsed,
    minFidelity: rules.minFidelity,
    renderedContext: render(parts),
    tokenizer: outcome.tokenizer.name,
    contextFormat: format.name,
    contextReferences: new Map(
      records.flatMap(({ reference, candidate }) =>
        reference === undefined ? [] : [[reference, candidate.node.id] as const],
      ),
    ),
  };
}

/** A containing record may itself have been folded. */
function lastHost(host: Uuid, folded: ReadonlyMap<Uuid, Uuid> | undefined): Uuid {
  const next = folded?.get(host);
  return next === undefined ? host : lastHost(next, folded);
}

function guidanceThatFits(
  given: PackingOutcome,
): { readonly text: string; readonly total: number } | undefined {
  const {
    rules: { guidance },
    available,
    meter,
  } = given;
  if (guidance === undefined || meter === undefined || meter.sections.size === 0) return undefined;
  const total = meter.totalWithGuidance(guidance);
  return total <= available ? { text: guidance, total } : undefined;
}

function toPackedRecord(
  { candidate, form, tokens, reference, repeats }: PlacedRecord,
  isCited: boolean,
): PackedRecord {
  const { head, body } = form.line();
  return {
    candidate,
    representation: form.level,
    tokenCost: tokens.alone,
    renderedText: head + body,
    text: form.text,
    repeats,
    reference: isCited ? reference : undefined,
  };
}

const AGGREGATION =
  "Aggregation coverage: a relevance search chose these records and others may be missing; give no total and no complete list on their strength.";

/** One line each: for count or list questions, and for an earlier moment. */
export function coverageNotice(given: {
  readonly isAggregation: boolean;
  readonly knowledgeAt: Instant | undefined;
}): string | undefined {
  const { isAggregation, knowledgeAt } = given;
  const lines = [
    ...(isAggregation ? [AGGREGATION] : []),
    ...(knowledgeAt === undefined
      ? []
      : [
          `Historical coverage: what was known and valid at ${isoTime(knowledgeAt)}, in the state of then; records that no longer hold say what became of them.`,
        ]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** Value bindings whose short form appears in the context. */
export function visibleBindings(bundle: Pick<MemoryBundle, "sections">): VisibleBinding[] {
  const visible: VisibleBinding[] = [];
  for (const record of [...bundle.sections.values()].flat()) {
    const { node } = record.candidate;
    for (const binding of storedValueBindings(node.metadata)) {
      const presentation = String(binding["presentation"]);
      if (!record.text.includes(presentation)) continue;
      visible.push({
        contextRef: record.reference ?? node.id,
        nodeId: node.id,
        reference: String(binding["reference"]),
        kind: String(binding["kind"]),
        presentation,
        lookup: String(binding["lookup"]),
        lookupAuthority: "caller",
      });
    }
  }
  const order = (binding: VisibleBinding) => `${binding.nodeId} ${binding.reference}`;
  return visible.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

type ContextParts = Pick<
  MemoryBundle,
  "coverageNotice" | "contextGuidance" | "header" | "sections"
>;

/** The complete text: no blank line, no line break at its end. */
export function render(given: ContextParts): string {
  const { coverageNotice, contextGuidance, header, sections } = given;
  if (sections.size === 0) return coverageNotice ?? "";
  const lines = [coverageNotice, contextGuidance, header].filter((line) => line !== undefined);
  for (const [section, records] of sections) {
    lines.push(sectionHeading(section), ...records.map(({ renderedText }) => renderedText));
  }
  return lines.join("\n");
}

/** The owner's packed instructions as a list for a system prompt. */
export function renderSystemInstructions({ sections }: Pick<MemoryBundle, "sections">): string {
  const lines = (sections.get("system_instructions") ?? [])
    .filter(
      ({ representation }) => representation !== "key_value" && representation !== "reference",
    )
    .map(({ candidate }) => withoutInvisible(oneLine(candidate.node.content)))
    .filter((text) => text !== "")
    .map((text) => `- ${text}`);
  return lines.length === 0
    ? ""
    : [`## System Instructions (${STORED_TEXTS})`, ...lines].join("\n");
}

/** The memory of a reference like `m1`. @throws SvcError invalid_argument if the context has no such reference */
export function resolveContextRef(
  { contextReferences }: Pick<MemoryBundle, "contextReferences">,
  reference: string,
): Uuid {
  const id = contextReferences.get(reference);
  if (id === undefined) {
    throw invalid("context_ref", `${JSON.stringify(reference)} is not a reference of this context`);
  }
  return id;
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0085]*[\n\r\v\f\u0085\u2028\u2029][\s\u0085]*/g, " ").trim();
}

/** Properties of a question that affect how its records are read. */
type QuestionKind = "temporal" | "aggregation" | "current_state" | "default";

type Question = {
  readonly query: string;
  readonly intent: QueryIntent;
  readonly isAggregation: boolean;
};

/** Whole words, any case. */
function phrases(...alternatives: readonly string[]): RegExp {
  return new RegExp(phrase(alternatives.join("|")), "iu");
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

/** Time spans come before counts: "how many days ago" counts nothing. */
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

/** Lines that tell the model how to read the records. Mode `temporal` covers questions about time only. */
export function guidanceFor(
  given: Question & {
    readonly mode: GuidanceMode;
    readonly format: ContextFormat;
    readonly referenceTime: Instant;
  },
): string | undefined {
  const { mode, format, referenceTime, ...question } = given;
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
