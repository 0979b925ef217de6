import { isUtf8 } from "node:buffer";

/** Concurrent requests of a server, and unanswered ones of a relay; beyond them reading stops. */
export const PENDING_MAX = 32;

/** Marks a line that is not UTF-8, so that its replacement characters are not taken for content. */
export const NOT_UTF8 = "\ufffd";

/** Maximum bytes of a line, somewhat more than the largest message of either side. */
const LINE_MAX = 17 * 1024 * 1024;

/** Splits a stream of bytes into lines. Lines are returned without their line feed. */
export class LineReader {
  readonly #max: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  /** @param max maximum bytes of a line. Default: enough for any message. */
  constructor(max: number = LINE_MAX) {
    this.#max = max;
  }

  /** @throws Error if a line is longer than allowed */
  read(chunk: Uint8Array): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      lines.push(this.#finish(chunk.subarray(from, at)));
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** What followed the last line feed. */
  rest(): Uint8Array {
    const rest = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return rest;
  }

  #finish(end: Uint8Array): string {
    this.#keep(end);
    return lineOf(this.rest());
  }

  #keep(part: Uint8Array): void {
    if (part.byteLength === 0) return;
    this.#size += part.byteLength;
    if (this.#size > this.#max) throw new Error(`a line is longer than ${this.#max} bytes`);
    // A copy, which `slice` of a Buffer is not: the stream may reuse its buffer.
    this.#parts.push(new Uint8Array(part));
  }
}

/** The text of a line; after {@link NOT_UTF8} if its bytes are not UTF-8. */
export function lineOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("utf8");
  return isUtf8(bytes) ? text : NOT_UTF8 + text;
}
