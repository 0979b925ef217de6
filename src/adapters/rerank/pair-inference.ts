import { existsSync } from "node:fs";
import { join } from "node:path";
import { forbidTelemetry } from "../native/no-telemetry.ts";
import { framePair, type PairTokenizer, readFrame } from "./pair-frame.ts";

/** How a model is run. */
export type PairInferenceOptions = {
  /** Absolute path of the folder with `config.json`, `tokenizer.json` and the weights. */
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
  /** Releases the model. */
  close(): Promise<void>;
};

/** A token is rarely longer, so a text cut to this many characters per token is long enough. */
const CHARS_PER_TOKEN = 64;

/** Places of the weights, in order of preference. */
const WEIGHTS = [
  { path: "onnx/model_quantized.onnx", subfolder: "onnx", dtype: "q8" },
  { path: "onnx/model.onnx", subfolder: "onnx", dtype: "fp32" },
  { path: "model_quantized.onnx", subfolder: "", dtype: "q8" },
  { path: "model.onnx", subfolder: "", dtype: "fp32" },
] as const;

/**
 * Loads tokenizer and weights from a folder and never from the network.
 *
 * Always one pair per run: int8 activations are quantised over the whole batch, so in a batch a value would depend on its
 * neighbours.
 * @throws Error that says what is missing or unfit in the folder; it contains no text of a pair.
 */
export async function loadPairInference(options: PairInferenceOptions): Promise<PairInference> {
  const weights = WEIGHTS.find(({ path }) => existsSync(join(options.folder, path)));
  if (weights === undefined) {
    throw new Error(
      `${options.folder} holds none of ${WEIGHTS.map(({ path }) => path).join(", ")}`,
    );
  }
  forbidTelemetry();
  const transformers = await import("@huggingface/transformers");
  const { AutoModelForSequenceClassification, AutoTokenizer, Tensor, env } = transformers;
  env.allowLocalModels = true;
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.useBrowserCache = false;
  const tokenizer = await AutoTokenizer.from_pretrained(options.folder);
  const model = await AutoModelForSequenceClassification.from_pretrained(options.folder, {
    subfolder: weights.subfolder,
    dtype: weights.dtype,
    device: "cpu",
    session_options: { intraOpNumThreads: options.threads, interOpNumThreads: 1 },
  });
  const pairs: PairTokenizer = {
    plain: (text) => tokenizer.encode(text, { add_special_tokens: false }),
    framed: (first, second) => {
      const encoded = tokenizer(first, {
        text_pair: second,
        return_tensor: false,
        return_token_type_ids: true,
      });
      return { ids: encoded.input_ids, types: encoded.token_type_ids ?? [] };
    },
  };
  const frame = readFrame(pairs);
  const maxTokens = Math.min(options.maxTokens, tokenizer.model_max_length);
  const plain = (text: string) => pairs.plain(text.slice(0, maxTokens * CHARS_PER_TOKEN));

  return {
    judge: async (first, second) => {
      const { ids, types } = framePair(frame, plain(first), plain(second), maxTokens);
      const shape = [1, ids.length];
      const output = await model({
        input_ids: new Tensor("int64", BigInt64Array.from(ids, BigInt), shape),
        attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
        token_type_ids: new Tensor("int64", BigInt64Array.from(types, BigInt), shape),
      });
      return relevanceIn([...output.logits.data]);
    },
    close: async () => {
      await model.dispose();
    },
  };
}

/** The logistic function of a model's one number, without overflow. */
function relevanceIn([logit, ...more]: readonly number[]): number {
  if (logit === undefined || more.length > 0 || !Number.isFinite(logit)) {
    throw new RangeError("the model gave no single finite number");
  }
  return logit >= 0 ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit) / (1 + Math.exp(logit));
}
