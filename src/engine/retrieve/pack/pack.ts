import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { MemoryBundle, ResultCandidate } from "../api.ts";
import { otherSides, withOtherSides } from "../context/conflicts.ts";
import { compareIds } from "../score/order.ts";
import { type PlacedRecord, toBundle } from "./bundle.ts";
import { ContextMeter } from "./context-meter.ts";
import { FoldIndex } from "./fold.ts";
import { contextHeader, type LineFormat } from "./formats.ts";
import { requiresText, showsText } from "./levels.ts";
import { createLineCounter } from "./line-tokens.ts";
import { type LevelForm, type PackItem, packItem } from "./pack-item.ts";
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
 * of the complete rendered text. The two sides of a dispute are packed together or not at all. Equal candidates in any order give
 * the same context. Pure.
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
  const leftOut = new Filling(meter, new PackingQueue(items, settings.multipathOrdering), {
    available,
    disputed: disputedItems(items),
    windows:
      settings.sessionContextPacking === "adjacent"
        ? windowPlaces(results)
        : new Map<Uuid, never>(),
    folds: format.name === "reader" && settings.foldRepeatedText,
  }).fill();
  const blank = new Set(results.filter(isBlank).map(({ node }) => node.id));
  return toBundle({ ...frame, meter, blank, folded: leftOut.folded, oneSided: leftOut.oneSided });
}

type FillRules = {
  readonly available: number;
  readonly disputed: Disputed;
  /** Windows of the candidates that are put beside each other. */
  readonly windows: ReadonlyMap<Uuid, WindowPlace>;
  /** Whether a record is left out if another one contains its text. */
  readonly folds: boolean;
};

/** Contested items whose other side is there too, and the other side of each. */
type Disputed = {
  readonly items: ReadonlyMap<Uuid, PackItem>;
  readonly sides: ReadonlyMap<Uuid, Uuid>;
};

function disputedItems(items: readonly PackItem[]): Disputed {
  const sides = otherSides(items.map(({ candidate }) => candidate));
  const disputed = items.filter(({ candidate }) => sides.has(candidate.node.id));
  return { sides, items: new Map(disputed.map((item) => [item.candidate.node.id, item])) };
}

/** What was left out although it would have fitted: with the record that has its text, or because its other side did not fit. */
type LeftOut = { readonly folded: ReadonlyMap<Uuid, Uuid>; readonly oneSided: ReadonlySet<Uuid> };

/** Packs the items of a queue. */
class Filling implements LeftOut {
  readonly folded = new Map<Uuid, Uuid>();
  readonly oneSided = new Set<Uuid>();
  readonly #meter: ContextMeter<Placed>;
  readonly #queue: PackingQueue;
  readonly #rules: FillRules;
  readonly #packed = new FoldIndex<Placed>();
  /** Members of disputes that were packed as a whole. */
  readonly #together = new Set<Uuid>();

  constructor(meter: ContextMeter<Placed>, queue: PackingQueue, rules: FillRules) {
    this.#meter = meter;
    this.#queue = queue;
    this.#rules = rules;
  }

  fill(): this {
    for (;;) {
      const item = this.#queue.next(this.#rules.available - this.#meter.total);
      if (item === undefined) return this;
      if (!this.#together.has(item.candidate.node.id)) this.#take(item);
    }
  }

  #take(item: PackItem): void {
    const { node } = item.candidate;
    const isDisputed = this.#rules.disputed.sides.has(node.id);
    const host = this.#rules.folds && !isDisputed ? this.#packed.hostOf(node) : undefined;
    if (host !== undefined) {
      this.folded.set(node.id, host.node.id);
      return;
    }
    const alone = this.#place(item);
    if (alone === undefined) return;
    const placed = isDisputed ? this.#withOthers(alone, item) : [alone];
    if (placed.length === 0) this.oneSided.add(node.id);
    if (!this.#rules.folds) return;
    for (const record of placed) this.#foldInto(record);
  }

  #place(item: PackItem): Placed | undefined {
    const { windows, available } = this.#rules;
    return place(this.#meter, item, windows.get(item.candidate.node.id), available);
  }

  /**
   * Puts the other side of a dispute beside a record that was just placed, both with their texts or both without, if need be at
   * lower levels.
   * @returns all of them; empty, and none is left in the context, if they do not fit together
   */
  #withOthers(alone: Placed, item: PackItem): readonly Placed[] {
    const { items, sides } = this.#rules.disputed;
    const others = withOtherSides(item.candidate.node.id, sides)
      .slice(1)
      .flatMap((id) => (this.#together.has(id) ? [] : (items.get(id) ?? [])));
    this.#meter.remove(alone);
    for (const form of item.forms.slice(item.forms.indexOf(alone.form))) {
      const isLike = ({ level }: LevelForm) => showsText(level) === showsText(form.level);
      const placed = this.#placeAll([
        { ...item, forms: [form] },
        ...others.map((other) => ({ ...other, forms: other.forms.filter(isLike) })),
      ]);
      for (const { node } of placed) this.#together.add(node.id);
      if (placed.length > 0) return placed;
    }
    return [];
  }

  /** Places all of these, or none. */
  #placeAll(items: readonly PackItem[]): readonly Placed[] {
    const placed: Placed[] = [];
    for (const item of items) {
      const record = this.#place(item);
      if (record === undefined) {
        for (const one of placed) this.#meter.remove(one);
        return [];
      }
      placed.push(record);
    }
    return placed;
  }

  /** Removes the records that show nothing beyond this one; a side of a dispute stays. */
  #foldInto(record: Placed): void {
    for (const held of this.#packed.heldBy(record.node)) {
      if (held.isBeside || this.#rules.disputed.sides.has(held.node.id)) continue;
      this.#meter.remove(held);
      this.#packed.remove(held);
      this.#queue.budgetGrew();
      this.folded.set(held.node.id, record.node.id);
    }
    this.#packed.add(record);
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
