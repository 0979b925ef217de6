/** UTF-16 units up to which a question is searched for as it is. */
const SHORT = 600;
/** What is read at either end of a longer one. */
const END = 1000;
/** A shorter sentence says too little by itself: the one before belongs to it. */
const TELLING = 16;
const MOST = 400;

/** Where a sentence or a line ends. */
const BREAK = /\n+|(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])/u;
const ASKS = /[?？؟]["')\]]?$/u;

/** What a long question asks, apart from what was pasted before or after it. */
export type Asked = {
  /** Texts that are searched for beside the whole; none for a short question. */
  readonly parts: readonly string[];
  /** The sentence that asks; undefined if none does at either end. */
  readonly sentence: string | undefined;
};

/**
 * Finds what a long question asks: the last sentence at its end, or else at its beginning, that ends with a question mark. Without
 * one, both its first and its last sentence may be it. Pure.
 */
export function askedIn(query: string): Asked {
  if (query.length <= SHORT) return { parts: [], sentence: undefined };
  const first = sentencesOf(query.slice(0, END));
  const last = sentencesOf(query.slice(-END));
  const asking = last.findLastIndex((sentence) => ASKS.test(sentence));
  const opening = first.findIndex((sentence) => ASKS.test(sentence));
  const sentence =
    asking !== -1 ? upTo(last, asking) : opening !== -1 ? upTo(first, opening) : undefined;
  if (sentence === undefined) {
    return { parts: [first[0] ?? "", upTo(last, last.length - 1)].map(cut), sentence };
  }
  // Of a longer one, only the end was read.
  return { parts: [sentence], sentence: sentence.length < MOST ? sentence : undefined };
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(BREAK)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** A sentence, with those before it if it is short. */
function upTo(sentences: readonly string[], end: number): string {
  let text = sentences[end] ?? "";
  for (let at = end - 1; at >= 0 && text.length < TELLING; at -= 1) {
    text = `${sentences[at]} ${text}`;
  }
  return text.slice(-MOST);
}

function cut(text: string): string {
  return text.slice(0, MOST);
}
