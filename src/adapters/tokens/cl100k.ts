import type { Tokenizer } from "../../ports/tokenizer.ts";

/** Longer texts are rare, and would push many short ones out. */
const MEMO_MAX_TEXT_CHARS = 20_000;
const MEMO_MAX_ENTRIES = 20_000;
/** Characters take 1 or 2 bytes in memory, so this is about 8 MB. */
const MEMO_MAX_CHARS = 4_000_000;

type Count = (text: string) => number;

/**
 * Counts tokens of `cl100k_base` exactly. The tables (1 MB) are loaded by `ready`; counts of up to 20,000 texts
 * below 20,000 characters are remembered within about 8 MB, since the same memories are packed again and again.
 * `count` throws a plain Error when `ready` has not resolved: that is a fault of the caller.
 */
export function createCl100kTokenizer(): Tokenizer {
  let loading: Promise<void> | undefined;
  let count: Count = () => {
    throw new Error("the tokenizer is not loaded: wait for ready() before count()");
  };
  return {
    name: "cl100k_base",
    ready: () => {
      loading ??= loadCounter().then((loaded) => {
        count = memoise(loaded);
      });
      return loading;
    },
    count: (text) => count(text),
  };
}

async function loadCounter(): Promise<Count> {
  const { countTokens } = await import("gpt-tokenizer/encoding/cl100k_base");
  // Memories may hold any text; by default the library throws on the name of a special token.
  const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

/**
 * Remembers in two generations: when the young one is full it becomes the old one, and what is not asked for again goes
 * with the next change. Nothing is ever removed one by one, which in a large Map costs more than counting.
 */
function memoise(count: Count): Count {
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  let chars = 0;
  const remember = (text: string, tokens: number): void => {
    if (young.size >= MEMO_MAX_ENTRIES / 2 || chars >= MEMO_MAX_CHARS / 2) {
      old = young;
      young = new Map();
      chars = 0;
    }
    young.set(text, tokens);
    chars += text.length;
  };
  return (text) => {
    if (text.length >= MEMO_MAX_TEXT_CHARS) return count(text);
    const known = young.get(text);
    if (known !== undefined) return known;
    const tokens = old.get(text) ?? count(text);
    remember(text, tokens);
    return tokens;
  };
}
