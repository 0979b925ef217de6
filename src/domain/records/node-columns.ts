import { type MemoryNode, nodeForm } from "../node.ts";
import { LASTING_MEMBERS } from "../search/change.ts";
import { rowWriter, type Value } from "./rows.ts";

/** The columns of a node that may change, in record order. */
export const CHANGING_COLUMNS: readonly string[] = nodeForm.members
  .filter(({ key }) => !LASTING_MEMBERS.some((lasting) => lasting === key))
  .map(({ name }) => name);

/** The values of a node for `CHANGING_COLUMNS`. */
export const changingValues = rowWriter(nodeForm, (name) => CHANGING_COLUMNS.includes(name));

/** A column of a node that is written, and what is written to it. */
export type ChangedColumn = { readonly name: string; readonly value: Value };

/** The columns in which two records of a node differ. An index over none of them need not be touched, which is most of the cost. */
export function changedColumns(before: MemoryNode, after: MemoryNode): readonly ChangedColumn[] {
  const old = changingValues(before);
  const values = changingValues(after);
  return CHANGING_COLUMNS.flatMap((name, place) => {
    const value = values[place] ?? null;
    return value === old[place] ? [] : [{ name, value }];
  });
}
