/** A token as listed in the table of a package: text, or bytes if they are not valid text. */
export type ListedToken = string | readonly number[];

/** The tokens of an encoding by rank, without gaps. */
export type TokenList = {
  /** The bytes of all tokens one after another. */
  readonly bytes: Uint8Array;
  /** Those of rank `r` lie between `ends[r]` and `ends[r + 1]`. */
  readonly ends: Uint32Array;
  /** Bytes of the longest token. */
  readonly longest: number;
};

export function joinTokens(tokens: readonly ListedToken[]): TokenList {
  const lengths = tokens.map((token) =>
    typeof token === "string" ? Buffer.byteLength(token) : token.length,
  );
  const { ends, longest } = placesOf(lengths);
  const bytes = Buffer.alloc(ends[tokens.length] ?? 0);
  for (const [rank, token] of tokens.entries()) {
    const from = ends[rank] ?? 0;
    if (typeof token === "string") bytes.write(token, from);
    else bytes.set(token, from);
  }
  return { bytes, ends, longest };
}

/**
 * A list as stored in the executable: the number of tokens in 32 bits, the length of each in a byte, their bytes.
 * @throws Error if a token has more than 255 bytes
 */
export function packTokens({ bytes, ends, longest }: TokenList): Uint8Array<ArrayBuffer> {
  if (longest > 0xff) throw new Error(`a token of ${longest} bytes is too long to be packed`);
  const count = ends.length - 1;
  const packed = Buffer.alloc(4 + count + bytes.length);
  packed.writeUInt32LE(count);
  for (let rank = 0; rank < count; rank += 1) {
    packed[4 + rank] = (ends[rank + 1] ?? 0) - (ends[rank] ?? 0);
  }
  packed.set(bytes, 4 + count);
  return packed;
}

/** A list packed by `packTokens`, sharing the memory of its argument. */
export function unpackTokens(packed: Buffer): TokenList {
  const start = 4 + packed.readUInt32LE();
  return { ...placesOf(packed.subarray(4, start)), bytes: packed.subarray(start) };
}

function placesOf(lengths: ArrayLike<number>): Pick<TokenList, "ends" | "longest"> {
  const ends = new Uint32Array(lengths.length + 1);
  let longest = 0;
  for (let rank = 0; rank < lengths.length; rank += 1) {
    const length = lengths[rank] ?? 0;
    longest = Math.max(longest, length);
    ends[rank + 1] = (ends[rank] ?? 0) + length;
  }
  return { ends, longest };
}
