/** Members of an entry by name; undefined: the entry must not have it. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Edits the text of a configuration file. Everything except the entry stays as it is, byte for byte, apart from a comma that
 * separates it from its neighbour.
 */
export type Editor = {
  /**
   * The entries by name, with their values. Blank text has none.
   * @throws ConfigTextError if the client could not read the text
   */
  read(text: string): ReadonlyMap<string, unknown>;
  /**
   * The text with these members in the entry of that name, whose other members stay; a new entry comes after all others.
   * @throws ConfigTextError also if the text has a form that cannot be changed without touching more than the entry
   */
  set(text: string, name: string, members: Members): string;
  /** The text without the entry; the member that holds the entries stays. @throws ConfigTextError as `set` */
  remove(text: string, name: string): string;
  /** A complete text that contains only the entry. */
  create(name: string, members: Members): string;
};

/** A configuration text that cannot be read or changed; the message says where and why. */
export class ConfigTextError extends Error {
  override readonly name = "ConfigTextError";
}

const BYTE_ORDER_MARK = "\uFEFF";

/** A text and its byte order mark, which parsers do not expect. */
export function splitMark(text: string): { readonly mark: string; readonly body: string } {
  return text.startsWith(BYTE_ORDER_MARK)
    ? { mark: BYTE_ORDER_MARK, body: text.slice(1) }
    : { mark: "", body: text };
}

/** The line ending of a text: that of its first line. */
export function lineEndingOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** An entry after these members are set. */
export function withMembers(former: unknown, members: Members): Members {
  const merged = { ...(typeof former === "object" ? former : {}), ...members };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
