import type { View } from "../../src/lib/form.ts";

/** What a caller reads of a value. */
export function toldJson<T>(view: View<T>, value: T) {
  return JSON.parse(JSON.stringify(view.json(value)));
}
