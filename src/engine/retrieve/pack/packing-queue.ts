import type { MultipathOrdering } from "../../../domain/records/packing.ts";
import { byScore, compareIds } from "../score/order.ts";
import type { PackItem } from "./pack-item.ts";
import { hasOwnClaim, ORDINARY_RANK } from "./tiers.ts";

/** An item and what it is worth to the context, or at most is worth while it was not counted. */
type Valued = { readonly item: PackItem; readonly worth: number };

/**
 * Hands out items in packing order: rank for rank, best first, and ordinary ones by what they are worth, which is their
 * score, their score per token, or in between; there `balanced` lets the best of all go first.
 *
 * Counting is what packing spends its time on. So an item is counted only when it may be the next one, judged by the
 * least that it can cost, and one whose least is beyond the remaining budget is set aside. Order and outcome are those of
 * counting everything: while no budget is freed, what is too large stays too large.
 */
export class PackingQueue {
  readonly #ordering: MultipathOrdering;
  /** Items whose order needs no count. */
  readonly #first: PackItem[];
  /** Not counted; most promising first, from `#at` on. */
  #open: Valued[];
  #at = 0;
  /** Counted; best first. */
  readonly #counted: Valued[] = [];
  #tooLarge: Valued[] = [];
  /** The last ordinary item that was handed out by its worth. */
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

  /** The next item; undefined when none is left that might fit. @param remaining tokens of the budget. */
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

  /** Tells that the remaining budget grew, so that what was set aside may fit now. */
  budgetGrew(): void {
    if (this.#tooLarge.length === 0) return;
    this.#open = [...this.#open.slice(this.#at), ...this.#tooLarge].sort(compareWorth);
    this.#at = 0;
    this.#tooLarge = [];
  }

  #count(item: PackItem): void {
    const valued = { item, worth: this.#worth(item, Math.max(1, item.full.line().tokens.alone)) };
    // Its place was reached while it was set aside, and then it was too large.
    if (this.#passed !== undefined && compareWorth(valued, this.#passed) < 0) return;
    const place = this.#counted.findIndex((other) => compareWorth(valued, other) < 0);
    this.#counted.splice(place < 0 ? this.#counted.length : place, 0, valued);
  }

  #worth({ candidate }: PackItem, tokens: number): number {
    const exponent = this.#ordering === "density" ? 1 : 0.25;
    return candidate.compositeScore / tokens ** exponent;
  }

  /** A score below zero is worth more the longer the text, so the least cost is no bound of it. */
  #mostWorth(item: PackItem): number {
    if (item.candidate.compositeScore < 0) return 0;
    return this.#worth(item, Math.max(1, item.full.least));
  }
}

/** The best of what is no instruction, not pinned and no open task. */
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
