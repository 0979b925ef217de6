/** Bytes of the longest line, some more than the largest message of either side. */
const LINE_MAX = 17 * 1024 * 1024;

/** Cuts a stream of bytes into lines. A line comes without its line feed. */
export class LineReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** @throws Error when a line is longer than any message may be */
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

  /** What came after the last line feed. */
  rest(): Uint8Array {
    const rest = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return rest;
  }

  #finish(end: Uint8Array): string {
    this.#keep(end);
    return Buffer.from(this.rest()).toString("utf8");
  }

  #keep(part: Uint8Array): void {
    if (part.byteLength === 0) return;
    this.#size += part.byteLength;
    if (this.#size > LINE_MAX) throw new Error("a message is larger than 16 MiB");
    // A copy: the stream may use its buffer again.
    this.#parts.push(part.slice());
  }
}
