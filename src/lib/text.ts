/** Compares texts by code point; JavaScript's own `<` compares UTF-16 units, which sorts 😀 before ﬁ. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // Surrogates stand for code points above every other unit, so they sort last.
    return Math.sign(rank(left) - rank(right));
  }
  return Math.sign(a.length - b.length);
}

/** Compares texts by UTF-16 units: for ASCII, such as instants and identifiers, the order of their bytes. Faster than the above. */
export function compareUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * Text for comparison that ignores case, by full folding: `Straße` equals `STRASSE` and `STRAẞE`, every form of sigma is the
 * same, and the dotless `ı` is not `i`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.includes("ı") ? text.split("ı").map(fold).join("ı") : fold(text);
}

function fold(text: string): string {
  // Lower case first: the capital ẞ stays itself in upper case.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
}
