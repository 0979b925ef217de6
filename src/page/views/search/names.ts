import { t } from "../../language/texts.ts";

/** The word for a way in which memories are found. */
export function nameOf(search: string): string {
  const names: Readonly<Record<string, string>> = t.search.searches;
  return names[search] ?? search.toLowerCase();
}
