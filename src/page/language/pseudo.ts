const LETTERS: Readonly<Record<string, string>> = { a: "å", e: "é", i: "ï", o: "ö", u: "ü" };

/**
 * A catalogue that no one speaks: every text in brackets, with marks, and 40 % longer. With it one sees which text of the page is
 * not in the catalogue, and what breaks in a longer language.
 */
export function pseudo<T>(catalogue: T): T {
  // SAFETY: texts stay texts, functions stay functions that return texts, and objects keep their members.
  return changed(catalogue) as T;
}

function changed(value: unknown): unknown {
  if (typeof value === "string") return lengthened(value);
  if (typeof value === "function") {
    return (...args: readonly unknown[]) => changed(Reflect.apply(value, undefined, args));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, changed(part)]));
}

function lengthened(text: string): string {
  const marked = text.replace(/[aeiou]/g, (letter) => LETTERS[letter] ?? letter);
  return `[${marked}${"~".repeat(Math.ceil(text.length * 0.4))}]`;
}
