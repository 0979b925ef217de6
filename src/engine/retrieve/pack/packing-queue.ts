import type { MultipathOrdering } from "../../../domain/records/packing.ts";
import { byScore, compareIds } from "../score/order.ts";
import type { PackItem } from "./pack-item.ts";
import { hasOwnClaim, ORDINARY_RANK } from "./tiers.ts";

/** An item and its worth to the context; before it is counted, an upper bound of the worth. */
type Valued = { readonly item: PackItem; readonly worth: number };

/**
 * Returns items in packing order: rank by rank, best first, and ordinary ones by their worth, which is their score, their score
 * per token, or something in between; with `balanced` the best of all goes first.
 *
 * Counting takes most of the time of packing. So an item is counted only if it may be the next one, judged by the lower bound of
 * its cost, and an item whose lower bound exceeds the remaining budget is set aside. Order and outcome are the same as if
 * everything were counted: while no budget is freed, what is too large stays too large.
 */
export class PackingQueue {
  readonly #ordering: MultipathOrdering;
  /** Items whose order needs no count. */
  readonly #first: PackItem[];
  /** Not counted; most promising first, starting at `#at`. */
  #open: Valued[];
  #at = 0;
  /** Counted; best first. */
  readonly #counted: Valued[] = [];
  #tooLarge: Valued[] = [];
  /** The last ordinary item that was returned by its worth. */
  #passed: Valued | undefined;

  constructor(items: readonly PackItem[], ordering: MultipathOrdering) {
    this.#ordering = ordering;
    const best = (a: PackItem, b: PackItem) => a.rank - b.rank || byScore(a.candidate, b.candidate);
    const ordinary = items.filter(({ rank }) => rank === ORDINARY_RANK).sort(best);
    this.#first = items.filter(({ rank }) => rank !== ORDINARY_RANK).sort(best);
    if (ordering === "score") this.#first.push(...ordinary.splice(0));
    const head = ordering === "balanced" ? headOf(items) : undefined;
    if (head?.rank === ORDINARY_RANK) this.#first.push(head);
    this.#open = ordinary
      .filter((item) => item !== head)
      .map((item) => ({ item, worth: this.#mostWorth(item) }))
      .sort(compareWorth);
  }

  /** The next item; undefined if none is left that might fit. @param remaining tokens of the budget. */
  next(remaining: number): PackItem | undefined {
    const first = this.#first.shift();
    if (first !== undefined) return first;
    for (;;) {
      const counted = this.#counted[0];
      const open = this.#open[this.#at];
      if (open === undefined || (counted !== undefined && compareWorth(counted, open) < 0)) {
        this.#passed = this.#counted.shift() ?? this.#passed;
        return counted?.item;
      }
      this.#at += 1;
      if (open.item.least > remaining) this.#tooLarge.push(open);
      else this.#count(open.item);
    }
  }

  /** The remaining budget has grown, so items that were set aside may fit now. */
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
    // Its turn came while it was set aside, and it was too large then.
    if (this.#passed !== undefined && compareWorth(valued, this.#passed) < 0) return;
    const place = this.#counted.findIndex((other) => compareWorth(valued, other) < 0);
    this.#counted.splice(place < 0 ? this.#counted.length : place, 0, valued);
  }

  #worth({ candidate }: PackItem, tokens: number): number {
    const exponent = this.#ordering === "density" ? 1 : 0.25;
    return candidate.compositeScore / tokens ** exponent;
  }

  /** For a negative score, a longer text means more worth, so the lowest cost is no bound. */
  #mostWorth(item: PackItem): number {
    if (item.candidate.compositeScore < 0) return 0;
    return this.#worth(item, Math.max(1, item.full.least));
  }
}

/** The best item that is not an instruction, a pinned memory or an open task. */
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
