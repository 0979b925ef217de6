/**
 * Reads the text of a `.env` file: `NAME=value` lines, an optional `export` before the name, `#` comments, values bare, in single
 * quotes (verbatim) or in double quotes (`\n`, `\t`, `\"`, `\\`); quoted values may span lines. A `#` within a bare value belongs
 * to it unless a blank precedes it: keys and passwords may contain one. All other lines are ignored. For duplicate names the last
 * value counts.
 */
export function parseEnvFile(content: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const line =
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\n]*))/gm;
  for (const [, name = "", single, double, bare] of text.matchAll(line)) {
    if (single !== undefined) values.set(name, single);
    else if (double !== undefined) values.set(name, unescaped(double));
    else values.set(name, (bare ?? "").replace(/(^|\s)#.*$/, "").trim());
  }
  return values;
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (pair, sign: string) => {
    if (sign === "n") return "\n";
    if (sign === "r") return "\r";
    if (sign === "t") return "\t";
    return sign === '"' || sign === "\\" || sign === "$" ? sign : pair;
  });
}
