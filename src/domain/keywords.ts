/**
 * Words that say nothing about the topic of a text. This list is independent of that of the text index, which serves questions.
 */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the is are was were be been being have has had do does did will would could should may might shall can need must
  i me my we our you your he she it they them their his her its and or but if then so for to of in on at by with from as
  into about that this these those not no all any some very just also too much more most`.split(
    /\s+/,
  ),
);

/** Whether a lower-case word says nothing about a topic. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Keywords of a text: its words of ASCII letters and digits in lower case, without stop words. */
export function keywords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return new Set(words.filter((word) => !isStopWord(word)));
}

/** Overlap of two sets, 0 to 1: the size of their intersection divided by that of their union; 0 for empty ones. */
export function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / (one.size + other.size - common);
}
