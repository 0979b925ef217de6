import { isTooLongForContext } from "../../../domain/beginning.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { MultipathOrdering } from "../../../domain/records/retrieval-record.ts";
import { statementOf } from "../../../domain/replacement.ts";
import { saysTheSame } from "../../../domain/same-saying.ts";
import { isOfConversation } from "../../../domain/search/turns.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Instant } from "../../../lib/instant.ts";
import { normalForm } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Tokenizer } from "../../../ports/models.ts";
import type { MemoryBundle, ResultCandidate } from "../api.ts";
import { byScore, compareIds } from "../score/score.ts";
import { otherSides, withOtherSides } from "../select.ts";
import { type PackRules, type PlacedRecord, toBundle } from "./bundle.ts";
import {
  contextHeader,
  createLineCounter,
  knownLines,
  type LevelForm,
  type LineFormat,
  type PackItem,
  packItem,
  requiresText,
  seenTags,
  showsReferences,
  showsText,
  statusTags,
  storedTime,
  validityLabel,
} from "./record-line.ts";
import {
  ContextMeter,
  farBehind,
  hasOwnClaim,
  ORDINARY_RANK,
  packingRanks,
  sectionOf,
} from "./sections.ts";

type Placed = PlacedRecord & {
  readonly node: MemoryNode;
  readonly window: WindowPlace | undefined;
  /** Whether it follows other members of its window. */
  readonly isBeside: boolean;
};

/**
 * Stage 6: fills the token budget with whole records, each at the highest level that fits. Both sides of a dispute are packed, or
 * neither. Deterministic for any order of candidates.
 */
export function pack(
  results: readonly ResultCandidate[],
  tokenizer: Tokenizer,
  rules: PackRules,
): MemoryBundle {
  const { settings } = rules;
  const format: LineFormat = { name: settings.contextFormat, citations: settings.contextCitations };
  const meter = new ContextMeter<Placed>(tokenizer, {
    notice: rules.notice,
    header: (namesSpeakers) => contextHeader(format, namesSpeakers),
  });
  const available = Math.max(0, rules.tokenBudget - settings.overheadTokens);
  // Without the notice the records would seem complete.
  const sorted = results.toSorted(byScore);
  const frame = { sorted, tokenizer, rules, format, available };
  const mustHaveText = requiresText({ format: format.name, minFidelity: rules.minFidelity });
  const blank = new Set(
    results.flatMap(({ node }) => (mustHaveText && node.content.trim() === "" ? [node.id] : [])),
  );
  const rankOf = packingRanks(results, settings.sessionContextPacking);
  const references = showsReferences(format) ? referencesOf(results) : undefined;
  const count = createLineCounter(tokenizer);
  const known = knownLines(tokenizer.name);
  const windows =
    settings.sessionContextPacking === "adjacent"
      ? windowPlaces(results)
      : new Map<Uuid, WindowPlace>();
  const { kept, repeats, folded } = withoutCopies(
    blank.size === 0 ? sorted : sorted.filter(({ node }) => !blank.has(node.id)),
    rankOf,
    windows,
  );
  const weak = rules.keepsWeak ? new Set<Uuid>() : farBehind(results);
  const told = weak.size === 0 ? kept : kept.filter(({ node }) => !weak.has(node.id));
  const stored = storedTimes(told);
  const lineRules = { ...rules, format };
  const items = told.map((candidate) => {
    const { id } = candidate.node;
    const given = {
      candidate,
      reference: references?.get(id) ?? "",
      rank: rankOf(candidate),
      repeats: repeats.get(id),
      stored: stored.get(id),
    };
    return packItem(given, lineRules, count, known);
  });
  const neededTokens = () => leastBudget(meter, items, settings.overheadTokens);
  if (meter.total > available) {
    return toBundle({ ...frame, meter: undefined, neededTokens: neededTokens() });
  }
  const leftOut = new Filling(meter, new PackingQueue(items, settings.multipathOrdering), {
    available,
    disputed: disputedItems(items, told),
    windows,
    newerOf: newerItems(items, folded),
    folds: format.name === "reader" && settings.foldRepeatedText,
  }).fill();
  return toBundle({
    ...frame,
    meter,
    blank,
    weak,
    folded: new Map([...folded, ...leftOut.folded]),
    oneSided: leftOut.oneSided,
    neededTokens: meter.sections.size === 0 ? neededTokens() : undefined,
  });
}

/** The budget of the shortest record; undefined if no budget suffices. */
function leastBudget(
  meter: ContextMeter<Placed>,
  items: readonly PackItem[],
  overheadTokens: number,
): number | undefined {
  const lengthOf = ({ candidate }: PackItem) => candidate.node.content.length;
  const [shortest] = items.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  if (shortest === undefined) return undefined;
  const totals = shortest.forms
    .filter(({ least }) => Number.isFinite(least))
    .map((form) => meter.totalWith(placed(shortest, form)));
  return totals.length === 0 ? undefined : Math.min(...totals) + overheadTokens;
}

/** What outdates each outdated memory, by its id. */
function newerItems(
  items: readonly PackItem[],
  folded: ReadonlyMap<Uuid, Uuid>,
): ReadonlyMap<Uuid, PackItem> {
  const outdated = items.filter(({ candidate }) => candidate.olderThan !== undefined);
  if (outdated.length === 0) return new Map();
  const byId = new Map(items.map((item) => [item.candidate.node.id, item]));
  return new Map(
    outdated.flatMap(({ candidate: { node, olderThan } }) => {
      const id = olderThan && (folded.get(olderThan.nodeId) ?? olderThan.nodeId);
      const newer = id === undefined ? undefined : byId.get(id);
      return newer === undefined ? [] : [[node.id, newer] as const];
    }),
  );
}

type FillRules = {
  readonly available: number;
  readonly disputed: Disputed;
  readonly windows: ReadonlyMap<Uuid, WindowPlace>;
  /** What outdates an item, by the id of the outdated. */
  readonly newerOf: ReadonlyMap<Uuid, PackItem>;
  /** Whether records contained in another are left out. */
  readonly folds: boolean;
};

/** Contested items whose other side is present. */
type Disputed = {
  readonly items: ReadonlyMap<Uuid, PackItem>;
  readonly sides: ReadonlyMap<Uuid, Uuid>;
};

function disputedItems(
  items: readonly PackItem[],
  candidates: readonly ResultCandidate[],
): Disputed {
  const sides = otherSides(candidates);
  if (sides.size === 0) return { sides, items: new Map() };
  const disputed = items.filter(({ candidate }) => sides.has(candidate.node.id));
  return { sides, items: new Map(disputed.map((item) => [item.candidate.node.id, item])) };
}

/** Left out although they would fit: contained in another record, or no room for the other side. */
type LeftOut = { readonly folded: ReadonlyMap<Uuid, Uuid>; readonly oneSided: ReadonlySet<Uuid> };

class Filling implements LeftOut {
  readonly folded = new Map<Uuid, Uuid>();
  readonly oneSided = new Set<Uuid>();
  readonly #meter: ContextMeter<Placed>;
  readonly #queue: PackingQueue;
  readonly #rules: FillRules;
  readonly #packed = new FoldIndex<Placed>();
  /** Taken early: other sides, and what outdates another item. */
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
    if (!this.#takeNewer(node)) {
      this.oneSided.add(node.id);
      return;
    }
    const alone = this.#place(item);
    if (alone === undefined) return;
    const placed = isDisputed ? this.#withOthers(alone, item) : [alone];
    if (placed.length === 0) this.oneSided.add(node.id);
    if (!this.#rules.folds) return;
    for (const record of placed) this.#foldInto(record);
  }

  /** Packs what outdates a memory first. @returns false if the outdated one cannot follow it, and is left out */
  #takeNewer(node: MemoryNode): boolean {
    const newer = this.#rules.newerOf.get(node.id);
    if (newer === undefined) return true;
    const { id } = newer.candidate.node;
    if (!this.#together.has(id) && this.#recordOf(id) === undefined) this.#take(newer);
    const record = this.#recordOf(id);
    if (record === undefined) return false;
    this.#together.add(record.node.id);
    return record.section !== "system_instructions" || sectionOf(node) === record.section;
  }

  /** The record of a memory, or the one that contains it. */
  #recordOf(id: Uuid): Placed | undefined {
    const shown = this.folded.get(id) ?? id;
    return [...this.#meter.sections.values()].flat().find(({ node }) => node.id === shown);
  }

  /** Behind what outdates it, else at the end of its window or section. */
  #place(item: PackItem): Placed | undefined {
    const { windows, available, newerOf } = this.#rules;
    const { node } = item.candidate;
    const newer = newerOf.get(node.id);
    const behind = newer && this.#recordOf(newer.candidate.node.id);
    return place(this.#meter, item, { window: windows.get(node.id), behind }, available);
  }

  /** Packs the other sides next to a record, all with text or all without, at lower levels if needed. Empty: they do not fit. */
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

  /** All of these, or none. */
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

  /** Removes records that this one contains. */
  #foldInto(record: Placed): void {
    for (const held of this.#packed.heldBy(record.node)) {
      const { id } = held.node;
      const isBound = this.#together.has(id) || this.#rules.disputed.sides.has(id);
      if (held.isBeside || isBound) continue;
      this.#meter.remove(held);
      this.#packed.remove(held);
      this.#queue.budgetGrew();
      this.folded.set(id, record.node.id);
    }
    this.#packed.add(record);
  }
}

type Beside = { readonly window: WindowPlace | undefined; readonly behind: Placed | undefined };

/** Adds an item at the highest level that fits. */
function place(
  meter: ContextMeter<Placed>,
  item: PackItem,
  { window, behind }: Beside,
  available: number,
): Placed | undefined {
  const own = sectionOf(item.candidate.node);
  // Only an outdated instruction follows the one that outdates it.
  const section =
    behind === undefined || behind.section === "system_instructions" ? own : behind.section;
  const lines = meter.sections.get(section) ?? [];
  const inWindow = placeInWindow(lines, window);
  const beside = inWindow ?? placeBehind(lines, behind);
  const remaining = available - meter.total;
  for (const form of item.forms) {
    if (form.least > remaining || form.line().tokens.alone > remaining) continue;
    const record = { ...placed(item, form), section, window, isBeside: inWindow !== undefined };
    if (meter.totalWith(record, beside) > available) continue;
    meter.add(record, beside);
    return record;
  }
  return undefined;
}

/** A record at the end of its section. */
function placed(item: PackItem, form: LevelForm): Placed {
  const { candidate, reference, repeats } = item;
  return {
    section: sectionOf(candidate.node),
    tokens: form.line().tokens,
    namesSpeaker: form.line().namesSpeaker,
    node: candidate.node,
    candidate,
    reference,
    repeats,
    form,
    window: undefined,
    isBeside: false,
  };
}

/** The index after a record and what it outdates. */
function placeBehind(lines: readonly Placed[], behind: Placed | undefined): number | undefined {
  const at = behind === undefined ? -1 : lines.indexOf(behind);
  if (at < 0) return undefined;
  const next = lines.findIndex(
    ({ candidate: { olderThan } }, index) => index > at && olderThan === undefined,
  );
  return next < 0 ? lines.length : next;
}

/** `m1`, `m2`, ... by ascending id, packed or not. */
function referencesOf(results: readonly ResultCandidate[]): ReadonlyMap<Uuid, string> {
  return new Map(
    [...results].sort(compareIds).map(({ node }, index) => [node.id, `m${index + 1}`]),
  );
}

/** Before it is counted, `worth` is an upper bound. */
type Valued = { readonly item: PackItem; readonly worth: number };

/**
 * Items in packing order: by rank, then by score, or score per token to a power. Counting is expensive, so an item is counted only once its
 * bound makes it a candidate for the next place; items over the budget are set aside until it grows.
 */
class PackingQueue {
  readonly #ordering: MultipathOrdering;
  /** Items whose order needs no token count. */
  readonly #first: PackItem[];
  /** Uncounted, most promising first, starting at `#at`. */
  #open: Valued[];
  #at = 0;
  /** Best last. */
  readonly #counted: Valued[] = [];
  #tooLarge: Valued[] = [];
  /** The last item that was returned by worth. */
  #passed: Valued | undefined;

  /** @param items best first */
  constructor(items: readonly PackItem[], ordering: MultipathOrdering) {
    this.#ordering = ordering;
    const ordinary = items.filter(({ rank }) => rank === ORDINARY_RANK);
    this.#first = items.filter(({ rank }) => rank !== ORDINARY_RANK);
    this.#first.sort((a, b) => a.rank - b.rank);
    if (ordering === "score") this.#first.push(...ordinary.splice(0));
    const head = ordering === "balanced" ? headOf(items) : undefined;
    if (head?.rank === ORDINARY_RANK) this.#first.push(head);
    this.#open = ordinary
      .filter((item) => item !== head)
      .map((item) => ({ item, worth: this.#mostWorth(item) }))
      .sort(compareWorth);
  }

  /** Undefined if no other item might fit. */
  next(remaining: number): PackItem | undefined {
    const first = this.#first.shift();
    if (first !== undefined) return first;
    for (;;) {
      const counted = this.#counted.at(-1);
      const open = this.#open[this.#at];
      if (open === undefined || (counted !== undefined && compareWorth(counted, open) < 0)) {
        this.#passed = this.#counted.pop() ?? this.#passed;
        return counted?.item;
      }
      this.#at += 1;
      if (open.item.least > remaining) this.#tooLarge.push(open);
      else this.#count(open.item);
    }
  }

  /** Items set aside may fit now. */
  budgetGrew(): void {
    if (this.#tooLarge.length === 0) return;
    this.#open = [...this.#open.slice(this.#at), ...this.#tooLarge].sort(compareWorth);
    this.#at = 0;
    this.#tooLarge = [];
  }

  #count(item: PackItem): void {
    const { full } = item;
    const tokens = Number.isFinite(full.least) ? full.line().tokens.alone : full.text.length;
    const valued = { item, worth: this.#worth(item, Math.max(1, tokens)) };
    // It was too large at its turn.
    if (this.#passed !== undefined && compareWorth(valued, this.#passed) < 0) return;
    let [place, end] = [0, this.#counted.length];
    while (place < end) {
      const middle = (place + end) >> 1;
      const other = this.#counted[middle];
      if (other !== undefined && compareWorth(valued, other) < 0) place = middle + 1;
      else end = middle;
    }
    this.#counted.splice(place, 0, valued);
  }

  #worth({ candidate }: PackItem, tokens: number): number {
    return candidate.compositeScore / (this.#ordering === "density" ? tokens : rootOf(tokens));
  }

  /** A negative score gains from length, so the lowest cost is not a bound. */
  #mostWorth(item: PackItem): number {
    if (item.candidate.compositeScore < 0) return 0;
    return this.#worth(item, Math.max(1, item.full.least));
  }
}

/** Fourth roots of small numbers. */
const roots: readonly number[] = Array.from({ length: 1024 }, (_, number) => number ** 0.25);

function rootOf(tokens: number): number {
  return roots[tokens] ?? tokens ** 0.25;
}

/** The best item without a claim of its own. */
function headOf(items: readonly PackItem[]): PackItem | undefined {
  return items
    .filter(({ candidate }) => !hasOwnClaim(candidate))
    .reduce<PackItem | undefined>(
      (best, item) =>
        best === undefined || byScore(item.candidate, best.candidate) < 0 ? item : best,
      undefined,
    );
}

function compareWorth(a: Valued, b: Valued): number {
  return b.worth - a.worth || compareIds(a.item.candidate, b.item.candidate);
}

/** Candidates with each text once. */
type WithoutCopies = {
  readonly kept: readonly ResultCandidate[];
  /** Memories with the text of a kept one, if several. */
  readonly repeats: ReadonlyMap<Uuid, number>;
  /** The others, each with the kept one. */
  readonly folded: ReadonlyMap<Uuid, Uuid>;
};

/**
 * Keeps the best of candidates whose lines would be equal in the same place. Sides of a dispute and members of windows stay.
 * @param candidates best first, as are those that are kept
 */
function withoutCopies(
  candidates: readonly ResultCandidate[],
  rankOf: (candidate: ResultCandidate) => number,
  windows: ReadonlyMap<Uuid, WindowPlace>,
): WithoutCopies {
  const texts = candidates.map(textOf);
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  if (times.size === candidates.length) {
    return { kept: candidates, repeats: new Map(), folded: new Map() };
  }
  const kept = new Map<string, ResultCandidate>();
  const repeats = new Map<Uuid, number>();
  const folded = new Map<Uuid, Uuid>();
  for (const [index, candidate] of candidates.entries()) {
    const { node, contradictsId, olderThan, became } = candidate;
    const text = texts[index] ?? "";
    const staysAlone =
      times.get(text) === 1 ||
      isTooLongForContext(node) ||
      contradictsId !== undefined ||
      node.lifecycleState === "contested" ||
      windows.has(node.id);
    if (staysAlone) {
      kept.set(node.id, candidate);
      continue;
    }
    const key = JSON.stringify([
      text,
      [node.scope, node.sourceType, storedSpeaker(node.metadata), node.eventTime],
      [statusTags(node), seenTags(node), validityLabel(node), olderThan?.nodeId, became],
      [sectionOf(node), rankOf(candidate)],
    ]);
    const first = kept.get(key);
    if (first === undefined) kept.set(key, candidate);
    else {
      repeats.set(first.node.id, (repeats.get(first.node.id) ?? 1) + 1);
      folded.set(node.id, first.node.id);
    }
  }
  return { kept: [...kept.values()], repeats, folded };
}

/** Empty for a text that is too long for a context. */
function textOf({ node }: ResultCandidate): string {
  return isTooLongForContext(node) ? "" : normalForm("NFC", node.content).trim();
}

/** Best candidates that are compared. */
const COMPARED = 20;

/**
 * When memories were stored that differ in a value and show no time; the reader can decide by it.
 * @param candidates best first
 */
function storedTimes(candidates: readonly ResultCandidate[]): ReadonlyMap<Uuid, Instant> {
  const compared = candidates
    .values()
    .filter(({ node }) => node.lifecycleState !== "contested" && !isOfConversation(node))
    .take(COMPARED)
    .flatMap((candidate) => {
      const statement = statementOf(candidate.node);
      return statement === undefined ? [] : [{ ...candidate, statement }];
    })
    .toArray();
  const times = new Map<Uuid, Instant>();
  const tell = ({ node, olderThan }: ResultCandidate) => {
    if (node.eventTime === undefined && olderThan === undefined) times.set(node.id, node.createdAt);
  };
  for (const [at, one] of compared.entries()) {
    for (const other of compared.slice(at + 1)) {
      const isNearly =
        other.node.scope === one.node.scope &&
        storedSpeaker(other.node.metadata) === storedSpeaker(one.node.metadata) &&
        storedTime(other.node.createdAt) !== storedTime(one.node.createdAt) &&
        saysTheSame(one.statement, other.statement);
      if (!isNearly) continue;
      tell(one);
      tell(other);
    }
  }
  return times;
}

/** Whether `outer` shows all of `inner`, which cites the same event: its text and status, and at least its times and speaker. */
function foldsInto(inner: MemoryNode, outer: MemoryNode): boolean {
  const text = inner.content.trim();
  return (
    text !== "" &&
    outer.content.includes(text) &&
    statusTags(inner).join() === statusTags(outer).join() &&
    sameOrNone(inner.eventTime, outer.eventTime) &&
    sameOrNone(validityLabel(inner), validityLabel(outer)) &&
    sameOrNone(storedSpeaker(inner.metadata), storedSpeaker(outer.metadata))
  );
}

function sameOrNone(inner: string | undefined, outer: string | undefined): boolean {
  return inner === undefined || inner === outer;
}

/** Records by event: only records of one event can contain each other. */
class FoldIndex<R extends { readonly node: MemoryNode }> {
  readonly #byEvent = new Map<Uuid, Set<R>>();

  add(record: R): void {
    for (const event of record.node.evidenceRefs) {
      this.#byEvent.set(event, (this.#byEvent.get(event) ?? new Set()).add(record));
    }
  }

  remove(record: R): void {
    for (const event of record.node.evidenceRefs) this.#byEvent.get(event)?.delete(record);
  }

  /** A record that shows all of the memory. */
  hostOf(node: MemoryNode): R | undefined {
    for (const event of node.evidenceRefs) {
      for (const record of this.#byEvent.get(event) ?? []) {
        if (foldsInto(node, record.node)) return record;
      }
    }
    return undefined;
  }

  /** Other records that the memory contains. */
  heldBy(node: MemoryNode): ReadonlySet<R> {
    const held = new Set<R>();
    for (const event of node.evidenceRefs) {
      for (const record of this.#byEvent.get(event) ?? []) {
        if (record.node.id !== node.id && foldsInto(record.node, node)) held.add(record);
      }
    }
    return held;
  }
}

/** Position in the session window of a trigger, which is at 0. */
type WindowPlace = { readonly triggerId: Uuid; readonly offset: number };

/** Candidates with a position in a window. */
function windowPlaces(candidates: readonly ResultCandidate[]): ReadonlyMap<Uuid, WindowPlace> {
  if (!candidates.some(({ sessionLink }) => sessionLink !== undefined)) return new Map();
  const ids = new Set(candidates.map(({ node }) => node.id));
  const places = new Map<Uuid, WindowPlace>();
  for (const { node, sessionLink } of candidates) {
    if (sessionLink === undefined || !ids.has(sessionLink.triggerId)) continue;
    places.set(node.id, sessionLink);
    if (!places.has(sessionLink.triggerId)) {
      places.set(sessionLink.triggerId, { triggerId: sessionLink.triggerId, offset: 0 });
    }
  }
  return places;
}

/** The index that keeps a window together and in session order; undefined without other members. */
function placeInWindow(
  records: readonly { readonly window: WindowPlace | undefined }[],
  own: WindowPlace | undefined,
): number | undefined {
  if (own === undefined) return undefined;
  let place: number | undefined;
  for (const [at, { window }] of records.entries()) {
    if (window?.triggerId !== own.triggerId) continue;
    if (window.offset > own.offset) return at;
    place = at + 1;
  }
  return place;
}
