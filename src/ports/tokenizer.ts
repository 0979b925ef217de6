/** Counts tokens exactly like the named encoding. */
export type Tokenizer = {
  /** For example `cl100k_base`. */
  readonly name: string;
  /** Loads the tables if they are not loaded yet. Call `count` only once this has resolved. */
  ready(): Promise<void>;
  /**
   * Number of tokens of `text`; text that looks like a special token counts as ordinary text.
   * @param of whose text it is: what is remembered of one owner makes no count of another quicker. Absent: it is not remembered
   */
  count(text: string, of?: string): number;
  /** Drops what is remembered of an owner. Absent: nothing is remembered. */
  readonly forget?: (of: string) => void;
};
