import { createCl100kTokenizer } from "../adapters/tokens/cl100k.ts";
import type { Tokenizer } from "../ports/tokenizer.ts";

/** The tokenizer for contexts, with its tables loaded: `count` may be called. */
export async function loadTokenizer(): Promise<Tokenizer> {
  const tokenizer = createCl100kTokenizer();
  await tokenizer.ready();
  return tokenizer;
}
