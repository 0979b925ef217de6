/** The numbers from one to nineteen in English, in lower case. */
export const NUMBER_WORDS: readonly string[] =
  `one two three four five six seven eight nine ten eleven
  twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);
