import { joinTokens, type TokenList } from "./token-list.ts";

/** The tokens of `cl100k_base`. The build replaces this module with one that reads them from the executable, in a third of the time. */
export async function loadTokens(): Promise<TokenList> {
  const { default: tokens } = await import("gpt-tokenizer/bpeRanks/cl100k_base");
  return joinTokens(tokens);
}
