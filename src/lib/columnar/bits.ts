/** Numbers of few bits one after the other, most significant bit first, and whole bytes beside them. */
export type BitWriter = {
  /** The lowest `width` bits of a whole number. @param width 0 to 53 */
  bits(value: number, width: number): void;
  flag(value: boolean): void;
  /**
   * A whole number from 0; smaller ones take fewer bits: exponential Golomb code. @param order low bits that are written as they
   * are
   */
  count(value: number, order: number): void;
  text(value: string): void;
  /** Whole bytes, whose number the reader knows. */
  bytes(value: Uint8Array): void;
  /** Everything written: texts and whole bytes first, then the bits. */
  finish(): Uint8Array;
};

/** Reads what a BitWriter wrote, in the same order. @throws RangeError beyond the end */
export type BitReader = {
  bits(width: number): number;
  flag(): boolean;
  count(order: number): number;
  text(): string;
  bytes(length: number): Uint8Array;
};

const WORD = 2 ** 32;
/** Order of the length of a text. */
const TEXT_ORDER = 5;

/** Bits that a whole number from 0 takes. */
export function bitLength(value: number): number {
  return value >= WORD ? 64 - Math.clz32(value / WORD) : 32 - Math.clz32(value);
}

/** Bits of the exponential Golomb code of a number. */
export function countWidth(value: number, order: number): number {
  return 2 * bitLength(Math.floor(value / 2 ** order) + 1) - 1 + order;
}

export function createBitWriter(): BitWriter {
  let view = new DataView(new ArrayBuffer(4096));
  let length = 0;
  let pending = 0;
  let free = 32;
  const front: Uint8Array[] = [];
  /** @param width 0 to 32 */
  const put = (given: number, width: number): void => {
    const value = width === 32 ? given : given & ((1 << width) - 1);
    if (width < free) {
      free -= width;
      pending |= value << free;
      return;
    }
    const over = width - free;
    if (length + 4 > view.byteLength) view = larger(view);
    view.setUint32(length, pending | (value >>> over));
    length += 4;
    free = 32 - over;
    pending = over === 0 ? 0 : value << free;
  };
  const bits: BitWriter["bits"] = (value, width) => {
    if (width > 32) put(Math.floor(value / WORD), width - 32);
    put(value >>> 0, Math.min(width, 32));
  };
  const count: BitWriter["count"] = (value, order) => {
    const high = Math.floor(value / 2 ** order) + 1;
    const width = bitLength(high);
    bits(0, width - 1);
    bits(high, width);
    bits(value % 2 ** order, order);
  };
  return {
    bits,
    flag: (value) => put(value ? 1 : 0, 1),
    count,
    text: (value) => {
      const encoded = new TextEncoder().encode(value);
      count(encoded.length, TEXT_ORDER);
      front.push(encoded);
    },
    bytes: (value) => void front.push(value),
    finish: () => {
      const before = front.reduce((sum, { length: size }) => sum + size, 0);
      const rest = Math.ceil((32 - free) / 8);
      const result = new Uint8Array(4 + before + length + rest);
      new DataView(result.buffer).setUint32(0, before);
      let at = 4;
      for (const piece of front) {
        result.set(piece, at);
        at += piece.length;
      }
      result.set(new Uint8Array(view.buffer, 0, length), at);
      for (let byte = 0; byte < rest; byte += 1) {
        result[at + length + byte] = pending >>> (24 - 8 * byte);
      }
      return result;
    },
  };
}

function larger(view: DataView): DataView<ArrayBuffer> {
  const bytes = new Uint8Array(view.byteLength * 2);
  bytes.set(new Uint8Array(view.buffer));
  return new DataView(bytes.buffer);
}

export function createBitReader(bytes: Uint8Array): BitReader {
  if (bytes.length < 4) throw new RangeError("nothing to read");
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  let frontAt = 4;
  let at = start * 8;
  const take = (width: number): number => {
    if (at + width > bytes.length * 8) throw new RangeError("read beyond the end");
    let value = 0;
    for (let left = width; left > 0; ) {
      const free = 8 - (at % 8);
      const taken = Math.min(left, free);
      const byte = bytes[at >>> 3] ?? 0;
      // Multiplied, not shifted: a shift does not keep 32 bits positive.
      value = value * 2 ** taken + ((byte >>> (free - taken)) & ((1 << taken) - 1));
      at += taken;
      left -= taken;
    }
    return value;
  };
  const bits: BitReader["bits"] = (width) =>
    width > 32 ? take(width - 32) * WORD + take(32) : take(width);
  const bytesOf: BitReader["bytes"] = (length) => {
    if (frontAt + length > start) throw new RangeError("read beyond the bytes");
    frontAt += length;
    return bytes.subarray(frontAt - length, frontAt);
  };
  const count: BitReader["count"] = (order) => {
    let width = 1;
    while (take(1) === 0) width += 1;
    if (width > 53) throw new RangeError("a number is too large");
    const high = 2 ** (width - 1) + bits(width - 1);
    return (high - 1) * 2 ** order + bits(order);
  };
  return {
    bits,
    flag: () => take(1) === 1,
    count,
    text: () => decode(bytesOf(count(TEXT_ORDER))),
    bytes: bytesOf,
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
