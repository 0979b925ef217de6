import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSession } from "../native/onnxruntime.ts";

type PairInferenceOptions = {
  /** Absolute path of the folder with `tokenizer.json`, `tokenizer_config.json` and the weights. */
  readonly folder: string;
  /** Threads within one run. More than 1 pays off only on idle cores: waiting threads spin. */
  readonly threads: number;
  /** Length limit of the pair in tokens, special tokens included. The model's own limit also applies. */
  readonly maxTokens: number;
};

/** A loaded model. One call at a time: the caller waits for each before the next. */
export type PairInference = {
  /** The relevance of the second text to the first, 0 to 1. Blocks the thread while the model runs. */
  judge(first: string, second: string): Promise<number>;
  close(): Promise<void>;
};

/** A token is rarely longer, so a text cut to this many characters per token is long enough. */
const CHARS_PER_TOKEN = 64;

const WEIGHTS = [
  "onnx/model_quantized.onnx",
  "onnx/model.onnx",
  "model_quantized.onnx",
  "model.onnx",
] as const;

/**
 * Loads tokenizer and weights from a folder and never from the network.
 *
 * Always one pair per run: int8 activations are quantised over the whole batch, so in a batch a value would depend on its
 * neighbours.
 * @throws Error that says what is missing or unfit in the folder; it contains no text of a pair.
 */
export async function loadPairInference(options: PairInferenceOptions): Promise<PairInference> {
  const { folder, threads } = options;
  const weights = WEIGHTS.find((path) => existsSync(join(folder, path)));
  if (weights === undefined) throw new Error(`${folder} holds none of ${WEIGHTS.join(", ")}`);
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const config = read("tokenizer_config.json");
  const tokenizer = new Tokenizer(read("tokenizer.json"), config);
  const session = openSession(join(folder, weights), threads);
  const pairs: PairTokenizer = {
    plain: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    framed: (first, second) => {
      const given = { text_pair: second, return_token_type_ids: true } as const;
      const { ids, token_type_ids: types } = tokenizer.encode(first, given);
      return { ids, types };
    },
  };
  const frame = readFrame(pairs);
  const maxTokens = Math.min(
    options.maxTokens,
    config.model_max_length ?? Number.POSITIVE_INFINITY,
  );
  const plain = (text: string) => pairs.plain(text.slice(0, maxTokens * CHARS_PER_TOKEN));

  return {
    judge: async (first, second) => {
      const { ids, types } = framePair(frame, plain(first), plain(second), maxTokens);
      const values: Readonly<Record<string, BigInt64Array>> = {
        input_ids: BigInt64Array.from(ids, BigInt),
        attention_mask: new BigInt64Array(ids.length).fill(1n),
        token_type_ids: BigInt64Array.from(types, BigInt),
      };
      // A model may read no segment numbers.
      const named = session.inputNames.flatMap((name) => {
        const value = values[name];
        return value === undefined ? [] : [[name, value] as const];
      });
      return relevanceIn([...session.run(named, "logits")]);
    },
    close: async () => session.release(),
  };
}

/** The logistic function of the model's single output, without overflow. */
function relevanceIn([logit, ...more]: readonly number[]): number {
  if (logit === undefined || more.length > 0 || !Number.isFinite(logit)) {
    throw new RangeError("the model gave no single finite number");
  }
  return logit >= 0 ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit) / (1 + Math.exp(logit));
}

/** The special tokens that a tokenizer puts around two texts, for example `[CLS] a [SEP] b [SEP]`. */
type PairFrame = {
  readonly before: readonly Token[];
  readonly between: readonly Token[];
  readonly after: readonly Token[];
  /** Segment number of each text's own tokens. */
  readonly firstType: number;
  readonly secondType: number;
};

type Token = { readonly id: number; readonly type: number };

/** A pair as a model reads it; both lists have one entry per token. */
type EncodedPair = { readonly ids: readonly number[]; readonly types: readonly number[] };

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
