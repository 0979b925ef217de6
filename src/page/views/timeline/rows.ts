import { signal } from "@preact/signals";
import { browseNodes } from "../../client/sdk.gen.ts";
import type { Node, Timeline } from "../../client/types.gen.ts";
import { answered, asFailure, type CallFailure, isLost } from "../../data/http.ts";
import { loseServer } from "../../data/server.ts";
import { startOfDay } from "../../parts/format.ts";
import type { Filters } from "./filters.tsx";

/** Pixels; all rows have the same height, so that the list's height is known before its rows are. */
export const ROW = 48;
export const HEADING = 44;

export type Day = {
  readonly from: string;
  readonly count: number;
  /** Index of its first row, from 0 for the newest memory. */
  readonly index: number;
  readonly top: number;
};

export type Days = {
  readonly days: readonly Day[];
  readonly total: number;
  readonly height: number;
};

export function daysOf({ buckets }: Timeline): Days {
  const days: Day[] = [];
  let index = 0;
  let top = 0;
  for (const { from, count } of buckets) {
    days.push({ from, count, index, top });
    index += count;
    top += HEADING + count * ROW;
  }
  return { days, total: index, height: top };
}

/** The last of the days for which `isBefore` holds; days are in the order of the list. */
function lastDay({ days }: Days, isBefore: (day: Day) => boolean): Day | undefined {
  let low = 0;
  let high = days.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const day = days[middle];
    if (day !== undefined && isBefore(day)) low = middle + 1;
    else high = middle;
  }
  return days[Math.max(0, low - 1)];
}

export function dayOfRow(all: Days, index: number): Day | undefined {
  return lastDay(all, (day) => day.index <= index);
}

export function dayAtHeight(all: Days, top: number): Day | undefined {
  return lastDay(all, (day) => day.top <= top);
}

/** The row at a height, from 0. */
export function rowAtHeight(all: Days, top: number): number {
  const day = dayAtHeight(all, top);
  if (day === undefined) return 0;
  const inDay = Math.floor((top - day.top - HEADING) / ROW);
  return day.index + Math.max(0, Math.min(day.count - 1, inDay));
}

export function topOfRow(all: Days, index: number): number {
  const day = dayOfRow(all, index);
  return day === undefined ? 0 : day.top + HEADING + (index - day.index) * ROW;
}

const PAGE = 100;
const LONGEST = 1000;

/**
 * The rows of a list by index, loaded when visible. A page begins at the first row of a day, since days are counted, or where a previous
 * page ended.
 */
export class Rows {
  readonly version = signal(0);
  /** Why the last requested rows are missing. */
  readonly failure = signal<CallFailure | undefined>(undefined);
  readonly #rows = new Map<number, Node>();
  readonly #before: ReadonlyMap<number, Node>;
  readonly #cursors = new Map<number, string>();
  readonly #days: Days;
  readonly #filters: Filters;
  readonly #userId: string;
  #reading: Promise<void> | undefined;
  #wanted: readonly [number, number] | undefined;

  /** @param before earlier rows of the same list, shown until these are loaded @param first rows already loaded, from the first one on */
  constructor(
    days: Days,
    filters: Filters,
    userId: string,
    {
      before,
      first = [],
    }: { readonly before?: Rows | undefined; readonly first?: readonly Node[] },
  ) {
    for (const [index, node] of first.entries()) this.#rows.set(index, node);
    this.#days = days;
    this.#filters = filters;
    this.#userId = userId;
    this.#before = before === undefined ? new Map() : new Map([...before.#before, ...before.#rows]);
  }

  get days(): Days {
    return this.#days;
  }

  at(index: number): Node | undefined {
    return this.#rows.get(index) ?? this.#before.get(index);
  }

  /** Loads the missing rows of a range; while a load runs, the latest range waits. */
  want(from: number, to: number): void {
    this.#wanted = [Math.max(0, from), Math.min(this.#days.total, to)];
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  again(): void {
    const [from, to] = this.#wanted ?? [0, 0];
    this.want(from, to);
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const [from, to] = this.#wanted ?? [0, 0];
        let missing = from;
        while (missing < to && this.#rows.has(missing)) missing += 1;
        if (missing >= to) return;
        if (!(await this.#readPage(missing, to))) return;
        this.failure.value = undefined;
        this.version.value += 1;
      }
    } catch (error) {
      const failure = asFailure(error);
      if (isLost(failure)) loseServer();
      this.failure.value = failure;
    }
  }

  /** @returns whether the row is loaded, or still loading */
  async #readPage(index: number, to: number): Promise<boolean> {
    const day = dayOfRow(this.#days, index);
    if (day === undefined) return false;
    let start = day.index;
    for (const known of this.#cursors.keys()) if (known <= index) start = Math.max(start, known);
    const cursor = this.#cursors.get(start);
    const limit = Math.min(LONGEST, Math.max(PAGE, to - start));
    const { nodes, next_cursor } = await answered(
      browseNodes({
        query: {
          ...this.#filters,
          user_id: this.#userId,
          limit,
          // A cursor belongs to the query that produced it.
          ...(cursor === undefined
            ? { time_to: startOfDay(day.from, 1).toISOString() }
            : { cursor }),
        },
      }),
    );
    for (const [place, node] of nodes.entries()) this.#rows.set(start + place, node);
    if (next_cursor !== null) this.#cursors.set(start + nodes.length, next_cursor);
    return start + nodes.length > index || next_cursor !== null;
  }
}
