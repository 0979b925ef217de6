import type { HttpParts } from "../contract/core/request.ts";

/** The query of a URL: all values of each parameter, and the last value of each. Linear in its length. */
export function readQuery(url: string): Pick<HttpParts, "query" | "queryLists"> {
  const at = url.indexOf("?");
  if (at < 0) return { query: {}, queryLists: {} };
  const query = new Map<string, string>();
  const lists = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(url.slice(at))) {
    query.set(name, value);
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return { query: Object.fromEntries(query), queryLists: Object.fromEntries(lists) };
}
