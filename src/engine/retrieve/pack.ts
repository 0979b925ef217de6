import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Tokenizer } from "../../ports/tokenizer.ts";
import type { MemoryBundle, PackedRecord, ResultCandidate, SectionName } from "../results.ts";
import type { PackingSettings } from "../settings.ts";
import { ContextMeter } from "./context-meter.ts";
import { type ReaderLine, readerLine } from "./render.ts";
import { compareIds } from "./score.ts";

export type PackRules = {
  /** Tokens of the whole budget. */
  readonly tokenBudget: number;
  readonly minFidelity: MemoryBundle["minFidelity"];
  readonly settings: Pick<PackingSettings, "overheadTokens" | "multipathOrdering">;
};

type Ranked = {
  readonly candidate: ResultCandidate;
  readonly line: ReaderLine;
  /** Tokens of its own line, at least 1. */
  readonly cost: number;
};

/**
 * Stage 6: fills the token budget with whole records; nothing is ever cut. Instructions come first, then pinned memories
 * and open tasks, then everything else. The count is that of the complete rendered text. Pure.
 */
export function pack(
  results: readonly ResultCandidate[],
  tokenizer: Tokenizer,
  rules: PackRules,
): MemoryBundle {
  const available = Math.max(0, rules.tokenBudget - rules.settings.overheadTokens);
  const meter = new ContextMeter(tokenizer);
  const sections = new Map<SectionName, PackedRecord[]>();
  const excludedIds: Uuid[] = [];
  for (const { candidate, line, cost } of inPackingOrder(results, tokenizer, rules.settings)) {
    const name = sectionOf(candidate.node);
    const blank = candidate.node.content.trim() === "";
    if (blank || cost > available || meter.totalWith(name, line) > available) {
      excludedIds.push(candidate.node.id);
      continue;
    }
    meter.add(name, line);
    const record: PackedRecord = {
      candidate,
      representation: "full",
      tokenCost: cost,
      renderedText: line.text,
    };
    sections.set(name, [...(sections.get(name) ?? []), record]);
  }
  return {
    sections,
    includedCount: results.length - excludedIds.length,
    excludedIds,
    tokensUsed: meter.total,
    tokenBudget: rules.tokenBudget,
    budgetRemaining: available - meter.total,
    minFidelity: rules.minFidelity,
    renderedContext: meter.render(),
    tokenizer: tokenizer.name,
    contextFormat: "reader",
  };
}

function inPackingOrder(
  results: readonly ResultCandidate[],
  tokenizer: Tokenizer,
  { multipathOrdering }: PackRules["settings"],
): Ranked[] {
  const ranked = results.map((candidate): Ranked => {
    const line = readerLine(candidate.node);
    return { candidate, line, cost: Math.max(1, tokenizer.count(line.text)) };
  });
  const head = ranked
    .filter(({ candidate }) => tierOf(candidate) === ORDINARY)
    .reduce<Ranked | undefined>(
      (best, item) => (best === undefined || byScore(item, best) < 0 ? item : best),
      undefined,
    );
  /** What an ordinary record is worth to the context: its score, its score per token, or in between. */
  const worth = ({ candidate, cost }: Ranked) => {
    if (multipathOrdering === "density") return candidate.compositeScore / cost;
    return multipathOrdering === "balanced"
      ? candidate.compositeScore / cost ** 0.25
      : candidate.compositeScore;
  };
  return ranked.sort((a, b) => {
    const tier = tierOf(a.candidate);
    const between = tier - tierOf(b.candidate);
    if (between !== 0) return between;
    if (tier !== ORDINARY) return byScore(a, b);
    if (multipathOrdering === "balanced" && (a === head || b === head)) return a === head ? -1 : 1;
    return worth(b) - worth(a) || compareIds(a.candidate, b.candidate);
  });
}

function byScore(a: Ranked, b: Ranked): number {
  return (
    b.candidate.compositeScore - a.candidate.compositeScore || compareIds(a.candidate, b.candidate)
  );
}

/** The tier of everything that has no claim of its own to a place. */
const ORDINARY = 2;

function tierOf({ node }: ResultCandidate): number {
  if (node.nodeType === "instruction") return 0;
  const openTask =
    node.nodeType === "task" &&
    (node.lifecycleState === "tentative" || node.lifecycleState === "stable");
  if (node.pinned || node.salience === 1 || openTask) return 1;
  return ORDINARY;
}

function sectionOf(node: MemoryNode): SectionName {
  if (node.lifecycleState === "contested") return "contested_claims";
  switch (node.nodeType) {
    case "instruction":
      return "system_instructions";
    case "entity":
      return "entity_snapshots";
    case "decision":
      return "recent_decisions";
    case "task":
      return "active_tasks";
    case "summary":
      return "summaries";
    case "event":
    case "preference":
      return "provenance_refs";
    case "fact":
    case "note":
      return "stable_facts";
  }
}
