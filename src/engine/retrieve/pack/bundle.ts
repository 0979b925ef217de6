import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { MemoryBundle, PackedRecord, ResultCandidate } from "../api.ts";
import { byScore } from "../score/order.ts";
import type { ContextMeter, MeteredLine } from "./context-meter.ts";
import { contextHeader, type LineFormat, showsReferences } from "./formats.ts";
import type { LevelForm } from "./pack-item.ts";
import { render } from "./render.ts";
import type { PackRules } from "./rules.ts";

/** A record in the context. */
export type PlacedRecord = MeteredLine & {
  readonly candidate: ResultCandidate;
  readonly reference: string;
  readonly form: LevelForm;
  /** How many memories have its text; undefined for one. */
  readonly repeats: number | undefined;
};

export type PackingOutcome = {
  readonly results: readonly ResultCandidate[];
  readonly tokenizer: Tokenizer;
  readonly rules: PackRules;
  readonly format: LineFormat;
  /** Tokens for the complete text. */
  readonly available: number;
  /** Undefined: there was no room for the notice, and so for nothing else. */
  readonly meter: ContextMeter<PlacedRecord> | undefined;
  /** Candidates that were left out because they have no text. */
  readonly blank?: ReadonlySet<Uuid>;
  /** Candidates that were left out because a packed record contained their text, with that record. */
  readonly folded?: ReadonlyMap<Uuid, Uuid>;
  /** The least budget with which there would be a record, where there is none. */
  readonly neededTokens?: number | undefined;
  /** Candidates that were left out because the other side of their dispute did not fit. */
  readonly oneSided?: ReadonlySet<Uuid>;
};

/** The finished context. The guidance is included if it still fits. */
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
  const excludedIds = [...outcome.results]
    .sort(byScore)
    .map(({ node }) => node.id)
    .filter((id) => !included.has(id));
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

/** The record that is in the context: a host may itself have been folded. */
function lastHost(host: Uuid, folded: ReadonlyMap<Uuid, Uuid> | undefined): Uuid {
  const next = folded?.get(host);
  return next === undefined ? host : lastHost(next, folded);
}

function guidanceThatFits({
  rules: { guidance },
  available,
  meter,
}: PackingOutcome): { readonly text: string; readonly total: number } | undefined {
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
const HISTORICAL =
  "Historical coverage: knowledge_at leaves out what was stored later, but status, links and indexes are those of today; what changed since then is not undone, so this is no picture of that moment.";

/** What the records do not cover, one line each: for questions for a count or a complete list, and for an earlier moment. */
export function coverageNotice({
  isAggregation,
  knowledgeAt,
}: {
  readonly isAggregation: boolean;
  readonly knowledgeAt: Instant | undefined;
}): string | undefined {
  const lines = [
    ...(isAggregation ? [AGGREGATION] : []),
    ...(knowledgeAt === undefined ? [] : [HISTORICAL]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
