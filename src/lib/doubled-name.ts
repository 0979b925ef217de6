const COLON = /[ \t\n\r]*:/y;

/** The first name that an object of a JSON text has twice: readers differ in which of the two they take, and `JSON.parse` is silent. */
export function doubledName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "{") open.push(new Set());
    else if (sign === "[") open.push(undefined);
    else if (sign === "}" || sign === "]") open.pop();
    if (sign !== '"') continue;
    const end = stringEnd(text, at);
    const name = nameIn(text, at, end);
    const names = open.at(-1);
    if (name !== undefined && names?.has(name) === true) return name;
    if (name !== undefined) names?.add(name);
    at = end - 1;
  }
  return undefined;
}

/** The name in a string of a JSON text; undefined if the string is a value. */
function nameIn(text: string, from: number, end: number): string | undefined {
  COLON.lastIndex = end;
  if (!COLON.test(text)) return undefined;
  const written = text.slice(from + 1, end - 1);
  return written.includes("\\") ? JSON.parse(`"${written}"`) : written;
}

/**
 * Where a JSON string ends, its quotation mark included; the end of the text if it is cut off. An expression would give up on
 * megabytes.
 * @param from the place of the first quotation mark
 */
export function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text[before] === "\\") before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return text.length;
}
