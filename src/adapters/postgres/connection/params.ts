import type { SqlValue } from "./sql.ts";
import { listText } from "./values.ts";

/** Collects the values of a statement: `add` gives the place of each, `$1`, `$2` and so on. */
export class Params {
  readonly values: SqlValue[] = [];

  constructor(...values: readonly SqlValue[]) {
    this.values.push(...values);
  }

  add(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** `column` is one of `values`; an empty list matches nothing. */
  any(column: string, values: Iterable<string>, type = "text"): string {
    return `${column} = ANY (${this.add(listText(values))}::${type}[])`;
  }
}
