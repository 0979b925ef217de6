import type { Tokenizer } from "../../ports/models.ts";
import { loadTokens } from "./cl100k-tokens.ts";
import { createPieceCounter } from "./piece-counter.ts";
import { createRankTable } from "./rank-table.ts";

/** Longer texts are rare, and would evict many short ones. */
const MEMO_MAX_TEXT_CHARS = 20_000;
const MEMO_MAX_ENTRIES = 20_000;
/** Characters take 1 or 2 bytes in memory, so this is about 8 MB. */
const MEMO_MAX_CHARS = 4_000_000;

type Count = (text: string) => number;
type Known = Required<Pick<Tokenizer, "count" | "forget">>;
/** Counts by text, by owner. */
type Generation = Map<string, Map<string, number>>;

/**
 * Counts tokens of `cl100k_base`: exactly, unless a word has more than 256 characters, which is counted in parts. The table (1 MB) is loaded by `ready`. Counts of up to 20,000 texts below
 * 20,000 characters are cached within about 8 MB, each for its owner alone, since the same memories are packed again and again. Counting a text of n
 * characters takes O(n) time, whatever its content. `count` throws a plain
 * Error if `ready` has not resolved: a fault of the caller.
 */
export function createCl100kTokenizer(): Tokenizer {
  let loading: Promise<void> | undefined;
  let known: Known | undefined;
  return {
    name: "cl100k_base",
    ready: () => {
      loading ??= loadCounter().then((loaded) => {
        known = memoise(loaded);
      });
      return loading;
    },
    count: (text, of) => {
      if (known !== undefined) return known.count(text, of);
      throw new Error("the tokenizer is not loaded: wait for ready() before count()");
    },
    forget: (of) => known?.forget(of),
  };
}

/** Uses the table and the pattern of the package, but not its table of texts: that takes ten times as long to make, and 40 MB. */
async function loadCounter(): Promise<Count> {
  const [{ CL100K_TOKEN_SPLIT_REGEX: pieces }, tokens] = await Promise.all([
    import("gpt-tokenizer/encodingParams/constants"),
    loadTokens(),
  ]);
  const countPiece = createPieceCounter(createRankTable(tokens));
  return (text) => {
    let count = 0;
    for (const [piece] of text.matchAll(pieces)) count += countPiece(piece);
    return count;
  };
}

/**
 * A cache of two generations: when the young one is full, it becomes the old one; entries not used again are dropped with
 * the next change. No entry is ever removed by itself, which in a large Map costs more than counting.
 */
function memoise(count: Count): Known {
  let young: Generation = new Map();
  let old: Generation = new Map();
  let entries = 0;
  let chars = 0;
  const remember = (of: string, text: string, tokens: number): void => {
    if (entries >= MEMO_MAX_ENTRIES / 2 || chars >= MEMO_MAX_CHARS / 2) {
      old = young;
      young = new Map();
      entries = 0;
      chars = 0;
    }
    const own = young.get(of);
    if (own === undefined) young.set(of, new Map([[text, tokens]]));
    else own.set(text, tokens);
    entries += 1;
    chars += text.length;
  };
  return {
    count: (text, of) => {
      if (of === undefined || text.length >= MEMO_MAX_TEXT_CHARS) return count(text);
      const known = young.get(of)?.get(text);
      if (known !== undefined) return known;
      const tokens = old.get(of)?.get(text) ?? count(text);
      remember(of, text, tokens);
      return tokens;
    },
    forget: (of) => {
      young.delete(of);
      old.delete(of);
    },
  };
}
