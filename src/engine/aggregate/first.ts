/** Keeps the first few of many in an order, and holds at most twice as many. */
export type First<T> = {
  readonly add: (item: T) => void;
  /** In order. */
  readonly list: () => readonly T[];
};

/** @param limit at least 1 */
export function createFirst<T>(limit: number, compare: (a: T, b: T) => number): First<T> {
  const held: T[] = [];
  const cut = () => {
    held.sort(compare);
    held.length = Math.min(held.length, limit);
  };
  return {
    add: (item) => {
      held.push(item);
      if (held.length === 2 * limit) cut();
    },
    list: () => {
      cut();
      return [...held];
    },
  };
}
