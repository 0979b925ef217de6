/** The tokens that a tokenizer puts around two texts, for example `[CLS] a [SEP] b [SEP]`. */
export type PairFrame = {
  readonly before: readonly Token[];
  readonly between: readonly Token[];
  readonly after: readonly Token[];
  /** Segment number of each text's own tokens. */
  readonly firstType: number;
  readonly secondType: number;
};

type Token = { readonly id: number; readonly type: number };

/** A pair as a model reads it; both lists have one entry per token. */
export type EncodedPair = { readonly ids: readonly number[]; readonly types: readonly number[] };

/** Turns texts into token ids, as a tokenizer does. */
export type PairTokenizer = {
  /** Ids of one text, without special tokens. */
  readonly plain: (text: string) => readonly number[];
  /** Ids and segment numbers of two texts, with special tokens. */
  readonly framed: (first: string, second: string) => EncodedPair;
};

/**
 * Derives the frame from a pair of sample texts.
 * @throws RangeError if the tokenizer does not keep the two texts apart.
 */
export function readFrame(tokenizer: PairTokenizer): PairFrame {
  const sample = tokenizer.plain("a");
  const whole = tokenizer.framed("a", "a");
  const first = indexOfRun(whole.ids, sample, 0);
  const second = indexOfRun(whole.ids, sample, first + sample.length);
  if (sample.length === 0 || first < 0 || second < 0) {
    throw new RangeError("its tokenizer does not encode pairs of texts");
  }
  const tokens = whole.ids.map((id, at) => ({ id, type: whole.types[at] ?? 0 }));
  return {
    before: tokens.slice(0, first),
    between: tokens.slice(first + sample.length, second),
    after: tokens.slice(second + sample.length),
    firstType: tokens[first]?.type ?? 0,
    secondType: tokens[second]?.type ?? 0,
  };
}

/**
 * Two texts within a frame, at most `maxTokens` together. If they are too long, the end of the longer one is cut until both
 * are equally long, then both; the special tokens always stay, since a model trained with them gives nonsense without them.
 */
export function framePair(
  frame: PairFrame,
  first: readonly number[],
  second: readonly number[],
  maxTokens: number,
): EncodedPair {
  const { before, between, after, firstType, secondType } = frame;
  const room = Math.max(0, maxTokens - before.length - between.length - after.length);
  const kept = Math.min(first.length, Math.max(Math.ceil(room / 2), room - second.length));
  const tokens = [
    ...before,
    ...first.slice(0, kept).map((id) => ({ id, type: firstType })),
    ...between,
    ...second.slice(0, room - kept).map((id) => ({ id, type: secondType })),
    ...after,
  ];
  return { ids: tokens.map(({ id }) => id), types: tokens.map(({ type }) => type) };
}

function indexOfRun(ids: readonly number[], run: readonly number[], from: number): number {
  for (let at = from; at + run.length <= ids.length; at += 1) {
    if (run.every((id, offset) => ids[at + offset] === id)) return at;
  }
  return -1;
}
