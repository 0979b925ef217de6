/** Counts tokens exactly like the named encoding. */
export type Tokenizer = {
  /** For example `cl100k_base`. */
  readonly name: string;
  /** Loads the tables if they are not loaded yet. Call `count` only once this has resolved. */
  ready(): Promise<void>;
  /** Number of tokens of `text`; text that looks like a special token counts as ordinary text. */
  count(text: string): number;
};
