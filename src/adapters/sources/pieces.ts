import type { SourceFile } from "./files.ts";

/** Reads JSON piece by piece, so that no file must fit into memory. */

/** UTF-16 units of the longest piece: a conversation, or a line. */
export const PIECE_MAX = 256 * 1024 * 1024;

/** Why a piece cannot be read. */
export class PieceError extends Error {}

/** The text of a file, decoded by its byte order mark, else as UTF-8. @throws PieceError for another encoding */
export async function* textOf(
  file: SourceFile,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const piece of file.open()) {
    onBytes(piece.length);
    decoder ??= new TextDecoder(encodingOf(piece), { fatal: true });
    let text: string;
    try {
      text = decoder.decode(piece, { stream: true });
    } catch {
      throw new PieceError(`its text is not in ${encodingOf(piece)}`);
    }
    if (text !== "") yield text;
  }
  try {
    decoder?.decode();
  } catch {
    throw new PieceError("its text ends in the middle of a character");
  }
}

export function encodingOf(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** A line with its number, from 1. Blank lines are left out. */
export type Line = { readonly number: number; readonly text: string };

export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<Line | TooLong> {
  const piece = new Piece();
  for await (const text of texts) {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      piece.add(text, from, end);
      const line = piece.take();
      if (!isBlank(line)) yield line;
      from = end + 1;
    }
    piece.add(text, from, text.length);
  }
  const last = piece.take();
  if (!isBlank(last)) yield last;
}

function isBlank(line: Line | TooLong): boolean {
  return "text" in line && line.text.trim() === "";
}

/** A piece that is longer than `PIECE_MAX`, and was skipped. */
export type TooLong = { readonly number: number; readonly tooLong: true };

/** The part of a text that is being read. */
class Piece {
  #number = 0;
  #parts: string[] = [];
  #length = 0;

  add(text: string, from: number, to: number): void {
    if (from >= to) return;
    this.#length += to - from;
    if (this.#length > PIECE_MAX) this.#parts = [];
    else this.#parts.push(text.slice(from, to));
  }

  take(): Line | TooLong {
    this.#number += 1;
    const number = this.#number;
    const isTooLong = this.#length > PIECE_MAX;
    const text = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    return isTooLong ? { number, tooLong: true } : { number, text };
  }
}

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [
  34, 44, 91, 92, 93, 123, 125,
];

/**
 * The texts of the elements of the list that a JSON text is, or that is the member `member` of the object that it is.
 * @throws PieceError if it ends early or has no such list
 */
export async function* elementsOf(
  texts: AsyncIterable<string>,
  member?: string,
): AsyncGenerator<Line | TooLong> {
  const scanner = new ListScanner(member);
  for await (const text of texts) if (!scanner.isOver) yield* scanner.scan(text);
  if (!scanner.isOver) throw new PieceError("it ends in the middle");
}

/** Finds the elements of one list by counting brackets. */
class ListScanner {
  readonly #member: string | undefined;
  readonly #listDepth: number;
  readonly #piece = new Piece();
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #isInList: boolean;
  /** The last text of the object that has the list. */
  #key = "";
  /** Where the element begins in this piece of text; -1: in none. */
  #from = -1;
  isOver = false;

  constructor(member: string | undefined) {
    this.#member = member;
    this.#listDepth = member === undefined ? 1 : 2;
    this.#isInList = false;
  }

  *scan(text: string): Generator<Line | TooLong> {
    this.#from = this.#isInList ? 0 : -1;
    for (let at = 0; at < text.length && !this.isOver; at += 1) {
      if (this.#isText) at = this.#pass(text, at);
      else {
        const piece = this.#step(text, at);
        if (piece !== undefined) yield piece;
      }
    }
    if (this.#from >= 0 && !this.isOver) this.#piece.add(text, this.#from, text.length);
  }

  /** Reads a character outside of texts. @returns the element that it ends */
  #step(text: string, at: number): Line | TooLong | undefined {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      this.#isText = true;
      if (this.#depth === 1) this.#key = "";
    } else if (code === OPEN || code === OPEN_LIST) this.#enter(code, at);
    else if (code === COMMA) return this.#next(text, at);
    else if (code === CLOSE || code === CLOSE_LIST) return this.#leave(text, at);
    return undefined;
  }

  /** Goes on inside of a text, most of which is found natively. @returns the last place that was read */
  #pass(text: string, at: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return at;
    }
    let end = at;
    // An escape is rare, so what lies between two of them is walked, not searched for twice.
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) {
        this.#isText = false;
        break;
      }
      if (code === BACKSLASH) {
        this.#isEscaped = true;
        break;
      }
    }
    if (this.#depth === 1 && this.#member !== undefined) this.#key += text.slice(at, end);
    return end;
  }

  #enter(code: number, at: number): void {
    this.#depth += 1;
    if (this.#isInList || this.#depth !== this.#listDepth || code !== OPEN_LIST) return;
    if (this.#member !== undefined && this.#key !== this.#member) return;
    this.#isInList = true;
    this.#from = at + 1;
  }

  #next(text: string, at: number): Line | TooLong | undefined {
    if (!this.#isInList || this.#depth !== this.#listDepth) return undefined;
    this.#piece.add(text, this.#from, at);
    this.#from = at + 1;
    return this.#piece.take();
  }

  #leave(text: string, at: number): Line | TooLong | undefined {
    this.#depth -= 1;
    if (!this.#isInList || this.#depth !== this.#listDepth - 1) return undefined;
    this.#piece.add(text, this.#from, at);
    this.isOver = true;
    const last = this.#piece.take();
    return isBlank(last) ? undefined : last;
  }
}

/**
 * The names of members in the beginning of JSON, of the first object found and of the objects of its first lists: `mapping`,
 * `chat_messages[].uuid`. The text may end anywhere.
 */
export function membersIn(head: string): ReadonlySet<string> {
  const names = new Set<string>();
  const path: string[] = [];
  let name = "";
  const pattern = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}[\]]/gs;
  for (const [token, text = "", colon] of head.matchAll(pattern)) {
    if (token === "{" || token === "[") {
      path.push(token === "[" ? `${name}[]` : name);
      name = "";
    } else if (token === "}" || token === "]") {
      path.pop();
      name = "";
    } else if (colon !== undefined) {
      name = text;
      const above = path.filter((part) => part !== "" && part !== "[]");
      if (above.length <= 2) names.add([...above, text].join("."));
    }
  }
  return names;
}
