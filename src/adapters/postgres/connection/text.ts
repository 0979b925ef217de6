/**
 * A column of text cannot hold U+0000, nor half of a surrogate pair, which the texts of callers may have. Each stands there as an
 * escape that begins with U+0001, which is escaped itself; so different texts stay different, and none is read as another one.
 */
const ESCAPE = "\u0001";
const DIGITS = 4;
/** Control characters, of which two are escaped, and halves of surrogate pairs. */
const SUSPECT = /[\p{Cc}\p{Cs}]/gu;

/** A text as the database holds it. */
export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE) && text.isWellFormed()) return text;
  return text.replace(SUSPECT, (unit) => {
    const code = unit.charCodeAt(0);
    const isStorable = code > 1 && code < 0xd800;
    return isStorable ? unit : ESCAPE + code.toString(16).padStart(DIGITS, "0");
  });
}

/** A text that the database held. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  const [first = "", ...rest] = text.split(ESCAPE);
  const units = rest.map(
    (part) => String.fromCharCode(Number.parseInt(part.slice(0, DIGITS), 16)) + part.slice(DIGITS),
  );
  return first + units.join("");
}
