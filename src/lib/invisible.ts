/**
 * Invisible or misleading characters: format characters and others that renderers omit, control characters except line ends, lone
 * surrogates, private-use characters, and blanks that look like others.
 */
const INVISIBLE =
  /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u2800]|(?![\t\n\r])\p{Cc}/gu;
const JOINER = /^[\u200c\u200d]$/;
/**
 * The neighbours of joiners in words and in emoji. Anchored at both ends: one code point is tested, and with `$` alone Chromium misses
 * surrogate pairs.
 */
const JOINED_BEFORE = /^[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
const JOINED_AFTER = /^[\p{L}\p{Extended_Pictographic}]/u;

/** Variation selectors, and the characters that have variants. */
const SELECTORS: readonly { readonly selector: RegExp; readonly base: RegExp }[] = [
  { selector: /^[\ufe0e\ufe0f]$/, base: /^\p{Emoji}$/u },
  {
    selector: /^[\ufe00-\ufe02]$/,
    base: /^[\p{Sm}\p{Script=Han}\p{Script=Myanmar}\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]$/u,
  },
  { selector: /^[\u{e0100}-\u{e01ef}]$/u, base: /^\p{Script=Han}$/u },
  { selector: /^[\u180b-\u180d\u180f]$/, base: /^\p{Script=Mongolian}$/u },
];

/**
 * A text without invisible characters: each is written as `\uXXXX`, one for each of its UTF-16 units, so that JSON stays JSON of the same
 * value. Joiners between letters and emoji stay, as does one selector after a character that has variants.
 */
export function withoutInvisible(text: string): string {
  if (!/[^\t\n\r\x20-\x7e]/.test(text)) return text;
  return text.replace(INVISIBLE, (found, at: number) =>
    hasPlace(found, text, at) ? found : escaped(found),
  );
}

/** Runs of them, and carriage returns. */
const UNSEEN = new RegExp(`(?:${INVISIBLE.source}|\\r)+`, "gu");

/** The invisible runs of a text, in order, except joiners and selectors in their proper places. */
export function* invisibleParts(
  text: string,
): Generator<{ readonly found: string; readonly index: number }> {
  if (!/[^\t\n\x20-\x7e]/.test(text)) return;
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (!haveAllPlaces(found, text, index)) yield { found, index };
  }
}

/** A selector and a joiner may follow each other, as in joined emoji. */
function haveAllPlaces(run: string, text: string, at: number): boolean {
  let place = at;
  return [...run].every((one) => {
    const isPlaced = hasPlace(one, text, place);
    place += one.length;
    return isPlaced;
  });
}

function hasPlace(found: string, text: string, at: number): boolean {
  // Two units contain any character.
  const before = lastPoint(text.slice(Math.max(0, at - 2), at));
  const selected = SELECTORS.find(({ selector }) => selector.test(found));
  if (selected !== undefined) return selected.base.test(before);
  if (!JOINER.test(found)) return false;
  const after = text.slice(at + found.length, at + found.length + 2);
  return JOINED_AFTER.test(after) && JOINED_BEFORE.test(before);
}

function lastPoint(text: string): string {
  return [...text].at(-1) ?? "";
}

function escaped(found: string): string {
  return Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
