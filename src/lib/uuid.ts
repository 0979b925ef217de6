/**
 * A UUID in canonical form: lower case, with hyphens. The brand is a name, not a symbol, so that the types of two packages are the same.
 */
export type Uuid = string & { readonly __uuid: true };

const HEX32 = /^[0-9a-f]{32}$/;

/**
 * Reads a UUID in any common notation: any case, with or without hyphens, in braces or as `urn:uuid:`.
 * @returns the canonical form, or undefined if the text is not a UUID.
 */
export function parseUuid(text: string): Uuid | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replace(/^\{(.*)\}$/, "$1");
  const hex = bare.replaceAll("-", "");
  if (!HEX32.test(hex)) return undefined;
  const canonical = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  // Hyphens are either all in place or all absent.
  return bare === hex || bare === canonical ? asUuid(canonical) : undefined;
}

/** Brands text known to be canonical, such as an identifier read from our own rows. */
export function asUuid(text: string): Uuid {
  // SAFETY: callers pass only canonical text; parseUuid accepts anything else.
  return text as Uuid;
}
