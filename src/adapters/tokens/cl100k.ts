import type { Tokenizer } from "../../ports/tokenizer.ts";

/** Longer texts are rare, and would push many short ones out. */
const MEMO_MAX_TEXT_CHARS = 20_000;
const MEMO_MAX_ENTRIES = 20_000;
/** Characters take 1 or 2 bytes in memory, so this is about 8 MB. */
const MEMO_MAX_CHARS = 4_000_000;

type Count = (text: string) => number;

/**
 * Counts tokens of `cl100k_base` exactly. The tables (1 MB) are loaded by `ready`; counts of the latest 20,000 texts
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

function memoise(count: Count): Count {
  // A Map iterates in insertion order: the first key is the one used longest ago.
  const known = new Map<string, number>();
  let chars = 0;
  const shrink = (): void => {
    for (const oldest of known.keys()) {
      if (known.size <= MEMO_MAX_ENTRIES && chars <= MEMO_MAX_CHARS) return;
      known.delete(oldest);
      chars -= oldest.length;
    }
  };
  return (text) => {
    if (text.length >= MEMO_MAX_TEXT_CHARS) return count(text);
    const found = known.get(text);
    if (found !== undefined) {
      known.delete(text);
      known.set(text, found);
      return found;
    }
    const tokens = count(text);
    known.set(text, tokens);
    chars += text.length;
    shrink();
    return tokens;
  };
}
