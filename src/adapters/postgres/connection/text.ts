/**
 * A text column cannot hold U+0000 or lone surrogates, which callers' texts may contain. Each is stored as an escape that begins with
 * U+0001, which is escaped itself, so that different texts stay different.
 */
const ESCAPE = "\u0001";
const DIGITS = 4;
/** Control characters, of which two are escaped, and lone surrogates. */
const SUSPECT = /[\p{Cc}\p{Cs}]/gu;

/** A text as stored in the database. */
export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE) && text.isWellFormed()) return text;
  return text.replace(SUSPECT, (unit) => {
    const code = unit.charCodeAt(0);
    const isStorable = code > 1 && code < 0xd800;
    return isStorable ? unit : ESCAPE + code.toString(16).padStart(DIGITS, "0");
  });
}

/** A text read from the database. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  const [first = "", ...rest] = text.split(ESCAPE);
  const units = rest.map(
    (part) => String.fromCharCode(Number.parseInt(part.slice(0, DIGITS), 16)) + part.slice(DIGITS),
  );
  return first + units.join("");
}
