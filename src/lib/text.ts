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

function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}

/** Text for comparison without regard to case: `Straße` equals `STRASSE`, and every form of sigma is the same. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ");
}
