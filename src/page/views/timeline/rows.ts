import { signal } from "@preact/signals";
import { browseNodes } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { asFailure, type CallFailure, isLost } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { loseServer } from "../../data/server.ts";
import { startOfDay } from "../../parts/format.ts";
import { type Days, dayOfRow } from "./days.ts";
import type { Filters } from "./filters.ts";

const PAGE = 100;
/** What the server gives at most. */
const LONGEST = 1000;

/**
 * The rows of a list by their place, read where they are looked at. A page begins at the first row of a day, since the days are
 * counted, or where a page before it ended.
 */
export class Rows {
  /** Rises when rows have come. */
  readonly version = signal(0);
  /** Why the rows that were wanted last have not come. */
  readonly failure = signal<CallFailure | undefined>(undefined);
  readonly #rows = new Map<number, Node>();
  readonly #before: ReadonlyMap<number, Node>;
  readonly #cursors = new Map<number, string>();
  readonly #days: Days;
  readonly #filters: Filters;
  readonly #userId: string;
  #reading: Promise<void> | undefined;
  #wanted: readonly [number, number] | undefined;

  /**
   * @param before rows of the same list some moments ago, shown until these have come
   * @param first rows that have come already, from the first one on
   */
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

  /** Reads the rows of a range that are not there yet; while some are being read, the latest range waits. */
  want(from: number, to: number): void {
    this.#wanted = [Math.max(0, from), Math.min(this.#days.total, to)];
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  /** Reads again what could not be read. */
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

  /** @returns whether the row has come, or is still to come */
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
          // A cursor belongs to the query with which it was made.
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
