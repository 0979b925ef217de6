import { signal } from "@preact/signals";
import type { BrowseNodesData } from "../../client/types.gen.ts";
import { go, place, withQuery } from "../../data/place.ts";

type BrowseQuery = NonNullable<BrowseNodesData["query"]>;

/** Which memories are looked through, and by which clock. */
export type Filters = Pick<
  BrowseQuery,
  | "clock"
  | "type"
  | "state"
  | "scope"
  | "source_type"
  | "epistemic_type"
  | "session_id"
  | "contains"
>;

/** The properties that are counted, with the name of their filter. */
export const FACETS = [
  ["lifecycle_state", "state"],
  ["node_type", "type"],
  ["scope", "scope"],
  ["source_type", "source_type"],
  ["epistemic_type", "epistemic_type"],
] as const;

/** Part of the texts; it stands in no address. */
export const contains = signal("");

/** The filters of the address and of this tab. The server says which values are none. */
export function filters(): Filters {
  const { query } = place.value;
  const chosen = FACETS.flatMap(([, name]) => {
    const values = query.getAll(name);
    return values.length === 0 ? [] : [[name, name === "type" ? values[0] : values]];
  });
  const session = query.get("session_id");
  // SAFETY: the server refuses values that it does not know, and the page says so.
  return {
    clock: query.get("clock") === "happened" ? "happened" : "learned",
    ...Object.fromEntries(chosen),
    ...(session === null ? {} : { session_id: session }),
    ...(contains.value === "" ? {} : { contains: contains.value }),
  } as Filters;
}

/** Whether any filter leaves something out. */
export function isFiltered({ clock: _, ...others }: Filters): boolean {
  return Object.keys(others).length > 0;
}

/** Turns one value of a filter on or off. */
export function toggle(name: (typeof FACETS)[number][1], value: string): void {
  const before = place.value.query.getAll(name);
  const others = before.filter((one) => one !== value);
  const after =
    others.length < before.length ? others : name === "type" ? [value] : [...before, value];
  go(withQuery({ [name]: after }), "replace");
}

export function clearFilters(): void {
  contains.value = "";
  const none = Object.fromEntries(FACETS.map(([, name]) => [name, undefined]));
  go(withQuery({ ...none, session_id: undefined }), "replace");
}
