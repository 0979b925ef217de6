/** Numbers of few bits one after the other, most significant bit first, and texts beside them. */
export type BitWriter = {
  /** The lowest `width` bits of a whole number. @param width 0 to 53 */
  bits(value: number, width: number): void;
  flag(value: boolean): void;
  /** A whole number from 0, the smaller the shorter: exponential Golomb code. @param order low bits that stand as they are */
  count(value: number, order: number): void;
  text(value: string): void;
  /** Everything written: the texts first, for they compress and the rest hardly does. */
  finish(): Uint8Array;
};

/** Reads what a BitWriter wrote, in the same order. @throws RangeError beyond the end */
export type BitReader = {
  bits(width: number): number;
  flag(): boolean;
  count(order: number): number;
  text(): string;
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
  let bytes = new Uint8Array(4096);
  let length = 0;
  let pending = 0;
  let free = 8;
  const texts: Uint8Array[] = [];
  const put = (value: number, width: number): void => {
    for (let left = width; left > 0; ) {
      const taken = Math.min(left, free);
      left -= taken;
      free -= taken;
      pending |= ((value >>> left) & ((1 << taken) - 1)) << free;
      if (free > 0) return;
      if (length === bytes.length) {
        const larger = new Uint8Array(bytes.length * 2);
        larger.set(bytes);
        bytes = larger;
      }
      bytes[length] = pending;
      length += 1;
      pending = 0;
      free = 8;
    }
  };
  const bits: BitWriter["bits"] = (value, width) => {
    if (width > 32) put(Math.floor(value / WORD), width - 32);
    put(value % WORD, Math.min(width, 32));
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
      texts.push(encoded);
    },
    finish: () => {
      const before = texts.reduce((sum, { length: size }) => sum + size, 0);
      const rest = free < 8 ? 1 : 0;
      const result = new Uint8Array(4 + before + length + rest);
      new DataView(result.buffer).setUint32(0, before);
      let at = 4;
      for (const encoded of texts) {
        result.set(encoded, at);
        at += encoded.length;
      }
      result.set(bytes.subarray(0, length), at);
      if (rest > 0) result[at + length] = pending;
      return result;
    },
  };
}

export function createBitReader(bytes: Uint8Array): BitReader {
  if (bytes.length < 4) throw new RangeError("nothing to read");
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  let textAt = 4;
  let at = start * 8;
  const take = (width: number): number => {
    if (at + width > bytes.length * 8) throw new RangeError("read beyond the end");
    let value = 0;
    for (let left = width; left > 0; ) {
      const free = 8 - (at % 8);
      const taken = Math.min(left, free);
      const byte = bytes[at >>> 3] ?? 0;
      // Multiplied, not shifted: 32 bits are more than a shift keeps positive.
      value = value * 2 ** taken + ((byte >>> (free - taken)) & ((1 << taken) - 1));
      at += taken;
      left -= taken;
    }
    return value;
  };
  const bits: BitReader["bits"] = (width) =>
    width > 32 ? take(width - 32) * WORD + take(32) : take(width);
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
    text: () => {
      const length = count(TEXT_ORDER);
      if (textAt + length > start) throw new RangeError("read beyond the texts");
      const encoded = bytes.subarray(textAt, textAt + length);
      textAt += length;
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(encoded);
    },
  };
}
