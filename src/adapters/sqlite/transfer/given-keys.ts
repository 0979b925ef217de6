/** Columns with the key of their own row, and columns with the key of another one, by kind of record. */
const OWN: Readonly<Record<string, string>> = { owner: "owner" };
const REFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  owner: {},
  edge: { owner: "owner", source: "node", target: "node" },
  job: { owner: "owner", event_key: "event" },
};
const OWNED = { owner: "owner" } as const;

/** A key that no row has. */
const NOBODY = -1;

/**
 * The keys of a new pack for those of a file, which may be anything: the rows of a kind, which come in ascending order, are counted
 * from 1.
 */
export class GivenKeys {
  readonly #files = new Map<string, number[]>();

  /** What a column of a record has in the pack. Called once for each own key. */
  valueOf(record: string, column: string, value: unknown): unknown {
    if (typeof value !== "number") return value;
    // SAFETY: a column that refers to nothing has no kind.
    const kind = (REFERENCES[record] ?? OWNED)[column as "owner"];
    if (kind !== undefined) return this.of(kind, value);
    return column === (OWN[record] ?? "key") ? this.give(record, value) : value;
  }

  /** The key of the next row of a kind. */
  give(kind: string, key: number): number {
    const keys = this.#files.get(kind) ?? [];
    this.#files.set(kind, keys);
    return keys.push(key);
  }

  /** The key that a row of the file got; one that no row has if there is none. */
  of(kind: string, key: number): number {
    const keys = this.#files.get(kind) ?? [];
    let [from, to] = [0, keys.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((keys[middle] ?? 0) < key) from = middle + 1;
      else to = middle;
    }
    return keys[from] === key ? from + 1 : NOBODY;
  }
}
