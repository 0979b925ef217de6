import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { MemoryBundle, ResultCandidate } from "../api.ts";
import { compareIds } from "../score/order.ts";
import { type PlacedRecord, toBundle } from "./bundle.ts";
import { ContextMeter } from "./context-meter.ts";
import { FoldIndex } from "./fold.ts";
import { contextHeader, type LineFormat } from "./formats.ts";
import { requiresText } from "./levels.ts";
import { createLineCounter } from "./line-tokens.ts";
import { type PackItem, packItem } from "./pack-item.ts";
import { PackingQueue } from "./packing-queue.ts";
import type { PackRules } from "./rules.ts";
import { placeInWindow, type WindowPlace, windowPlaces } from "./session-windows.ts";
import { packingRanks, sectionOf } from "./tiers.ts";

/** A record in the context. */
type Placed = PlacedRecord & {
  readonly node: MemoryNode;
  readonly window: WindowPlace | undefined;
  /** Whether it was put beside other members of its session window. */
  readonly isBeside: boolean;
};

/**
 * Stage 6: fills the token budget with whole records, each at the highest level that fits; nothing is ever cut. The count is that
 * of the complete rendered text. Equal candidates in any order give the same context. Pure.
 */
export function pack(
  results: readonly ResultCandidate[],
  tokenizer: Tokenizer,
  rules: PackRules,
): MemoryBundle {
  const { settings } = rules;
  const format: LineFormat = {
    name: settings.contextFormat,
    citations: settings.contextCitations,
  };
  const meter = new ContextMeter<Placed>(tokenizer, {
    notice: rules.notice,
    header: (namesSpeakers) => contextHeader(format, namesSpeakers),
  });
  const available = Math.max(0, rules.tokenBudget - settings.overheadTokens);
  // Without the notice, the records would seem to cover more than they do.
  const frame = { results, tokenizer, rules, format, available };
  if (meter.total > available) return toBundle({ ...frame, meter: undefined });
  const mustHaveText = requiresText({ format: format.name, minFidelity: rules.minFidelity });
  const isBlank = ({ node }: ResultCandidate) => mustHaveText && node.content.trim() === "";
  const ranks = packingRanks(results, settings.sessionContextPacking);
  const references = referencesOf(results);
  const count = createLineCounter(tokenizer);
  const items = results
    .filter((candidate) => !isBlank(candidate))
    .map((candidate) => {
      const reference = references.get(candidate.node.id) ?? "";
      const rank = ranks.get(candidate.node.id) ?? 0;
      return packItem({ candidate, reference, rank }, { ...rules, format }, count);
    });
  const folded = fill(meter, new PackingQueue(items, settings.multipathOrdering), {
    available,
    windows:
      settings.sessionContextPacking === "adjacent"
        ? windowPlaces(results)
        : new Map<Uuid, never>(),
    folds: format.name === "reader" && settings.foldRepeatedText,
  });
  const blank = new Set(results.filter(isBlank).map(({ node }) => node.id));
  return toBundle({ ...frame, meter, blank, folded });
}

type FillRules = {
  readonly available: number;
  /** Windows of the candidates that are put beside each other. */
  readonly windows: ReadonlyMap<Uuid, WindowPlace>;
  /** Whether a record is left out if another one contains its text. */
  readonly folds: boolean;
};

/** Packs the items of the queue. @returns those left out because a record contains their text, with that record. */
function fill(
  meter: ContextMeter<Placed>,
  queue: PackingQueue,
  { available, windows, folds }: FillRules,
): ReadonlyMap<Uuid, Uuid> {
  const packed = new FoldIndex<Placed>();
  const folded = new Map<Uuid, Uuid>();
  for (;;) {
    const item = queue.next(available - meter.total);
    if (item === undefined) return folded;
    const { node } = item.candidate;
    const host = folds ? packed.hostOf(node) : undefined;
    if (host !== undefined) {
      folded.set(node.id, host.node.id);
      continue;
    }
    const placed = place(meter, item, windows.get(node.id), available);
    if (placed === undefined || !folds) continue;
    for (const held of packed.heldBy(node).filter(({ isBeside }) => !isBeside)) {
      meter.remove(held);
      packed.remove(held);
      queue.budgetGrew();
      folded.set(held.node.id, node.id);
    }
    packed.add(placed);
  }
}

/** Adds an item at the first level at which the complete text fits; undefined if none does. */
function place(
  meter: ContextMeter<Placed>,
  item: PackItem,
  window: WindowPlace | undefined,
  available: number,
): Placed | undefined {
  const section = sectionOf(item.candidate.node);
  const beside = placeInWindow(meter.sections.get(section) ?? [], window);
  const remaining = available - meter.total;
  for (const form of item.forms) {
    if (form.least > remaining || form.line().tokens.alone > remaining) continue;
    const placed: Placed = {
      section,
      tokens: form.line().tokens,
      namesSpeaker: form.line().namesSpeaker,
      node: item.candidate.node,
      candidate: item.candidate,
      reference: item.reference,
      form,
      window,
      isBeside: beside !== undefined,
    };
    if (meter.totalWith(placed, beside) > available) continue;
    meter.add(placed, beside);
    return placed;
  }
  return undefined;
}

/** `m1`, `m2`, ... by ascending id, whether packed or not. */
function referencesOf(results: readonly ResultCandidate[]): ReadonlyMap<Uuid, string> {
  return new Map(
    [...results].sort(compareIds).map(({ node }, index) => [node.id, `m${index + 1}`]),
  );
}
