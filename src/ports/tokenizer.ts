/** Counts tokens exactly as the named encoding does. */
export type Tokenizer = {
  /** For example `cl100k_base`. */
  readonly name: string;
  /** Loads the tables when they are not loaded yet. `count` may be called once this has resolved. */
  ready(): Promise<void>;
  /** Number of tokens of `text`; text that looks like a special token is counted as ordinary text. */
  count(text: string): number;
};
