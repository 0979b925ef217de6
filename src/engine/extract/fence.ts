import { sha256Hex } from "../../lib/hashing.ts";

/** Hexadecimal digits of a name that no text has. */
const SUFFIX_CHARS = 6;

/**
 * A name for the tag around texts, so that none of them can end its own, or begin another one: the plain name, unless a text has
 * something that looks like such a tag; then with a suffix that no text has. The same texts get the same name.
 */
export function tagFor(name: string, texts: readonly string[]): string {
  const plain = texts.map(readable);
  const looksLikeTag = new RegExp(`[<‹〈《«]\\s*[/\\\\]?\\s*${name}`, "i");
  if (!plain.some((text) => looksLikeTag.test(text))) return name;
  for (let round = 0; ; round += 1) {
    const digest = sha256Hex(JSON.stringify([round, ...texts]));
    const tag = `${name}-${digest.slice(0, SUFFIX_CHARS)}`;
    if (!plain.some((text) => text.toLowerCase().includes(tag))) return tag;
  }
}

/** A text as a model may read it: wide and styled letters as plain ones, without characters that are not seen. */
function readable(text: string): string {
  return text.normalize("NFKC").replace(/\p{Cf}/gu, "");
}

/** A text between tags, or as the value of one of their attributes: it cannot end them. */
export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A text that cannot begin a line of its own. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\u0085\p{Cc}]+/gu, " ").trim();
}
