/** Words of a question for a count or list that say nothing about what is counted. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  `how many much total did do does have has the and or in on at to of for with from last past all what list count
  number been was were are is my me few spend spent any some each every a an that this those these it its`.split(
    /\s+/,
  ),
);
const WORDS_MAX = 5;

/** The words, and pairs of adjacent words, that are scanned for in a question for a count or a list. Pure. */
export function scanTerms(question: string): readonly string[] {
  const words = (question.toLowerCase().match(/[a-z]{3,}/g) ?? [])
    .filter((word) => !EMPTY_WORDS.has(word))
    .slice(0, WORDS_MAX);
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  return [...new Set([...words, ...pairs])];
}
