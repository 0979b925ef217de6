import { jaccard, keywords } from "./keywords.ts";

/** Share of keywords that two texts must have in common to be about the same topic. */
const SAME_TOPIC = 0.3;
/** Confidence lost per cycle, and at most, in tenths: tenths add up exactly. */
const TENTHS_PER_CYCLE = 1;
const TENTHS_MAX = 3;
/** Shortest chain of memories that can go back and forth. */
const CHAIN_MIN = 3;
/** Keywords that name a topic. */
const TOPIC_WORDS = 5;

/** What is remembered about a topic goes back and forth. */
export type Oscillation = {
  /** At least 1. */
  readonly cycleCount: number;
  /** To subtract from the confidence of the newest memory: 0.1 to 0.3. */
  readonly penalty: number;
  /** Up to five keywords in order, separated by spaces. */
  readonly topic: string;
};

/**
 * Whether a chain of replacements returns to its starting point.
 * @param texts the newest memory, then what it replaced, and so on: a memory an even number of steps before the newest was
 *   held one or more turns ago, and counts as a cycle if it is about the same topic
 */
export function findOscillation(texts: readonly string[]): Oscillation | undefined {
  if (texts.length < CHAIN_MIN) return undefined;
  const [newest = new Set<string>(), , earlier = new Set<string>(), ...rest] = texts.map(keywords);
  const cycleCount = [earlier, ...rest.filter((_, index) => index % 2 === 1)].filter(
    (words) => jaccard(newest, words) >= SAME_TOPIC,
  ).length;
  if (cycleCount === 0) return undefined;
  return {
    cycleCount,
    penalty: Math.min(TENTHS_PER_CYCLE * cycleCount, TENTHS_MAX) / 10,
    topic: topicOf(newest, earlier),
  };
}

function topicOf(newest: ReadonlySet<string>, earlier: ReadonlySet<string>): string {
  const common = newest.intersection(earlier);
  const smaller = earlier.size < newest.size ? earlier : newest;
  const words = common.size > 0 ? common : smaller;
  return [...words].sort().slice(0, TOPIC_WORDS).join(" ");
}
