/** Words that say nothing about what a text is about. They match no other list: those of the text index serve questions. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the is are was were be been being have has had do does did will would could should may might shall can need must
  i me my we our you your he she it they them their his her its and or but if then so for to of in on at by with from as
  into about that this these those not no all any some very just also too much more most`.split(
    /\s+/,
  ),
);

/** Whether a word in lower case tells nothing about a topic. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** What a text is about: its words of ASCII letters and digits in lower case, without stop words. */
export function keywords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return new Set(words.filter((word) => !isStopWord(word)));
}

/** How much of two sets is common to both, 0 to 1: the size of their intersection by that of their union; 0 for empty ones. */
export function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / (one.size + other.size - common);
}
