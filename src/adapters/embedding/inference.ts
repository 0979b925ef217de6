import { forbidTelemetry } from "../native/no-telemetry.ts";
import { MODEL_NAME } from "./model-files.ts";

/** How the model is run. */
export type InferenceOptions = {
  /** Folder that holds `BAAI/bge-small-en-v1.5/…`, see `modelRoot`. */
  readonly root: string;
  /** Threads within one run. More than 1 pays off only on idle cores: waiting threads spin. */
  readonly threads: number;
  /** Length limit in tokens, `[CLS]` and `[SEP]` included, 2 to 512. */
  readonly maxTokens: number;
};

/** A loaded model. One call at a time: the caller waits for each before the next. */
export type Inference = {
  /** The L2-normalised vector of the `[CLS]` position. Blocks the thread while the model runs. */
  embed(text: string): Promise<Float32Array>;
  /** The token ids that `embed` gives to the model: at most `maxTokens`, first `[CLS]`, last `[SEP]`. */
  tokenIds(text: string): number[];
  /** Releases the model. */
  close(): Promise<void>;
};

/** A token is rarely longer, so a text cut to this many characters per token is long enough. */
const CHARS_PER_TOKEN = 64;

/**
 * Loads tokenizer and weights from disk and never from the network.
 *
 * Always one text per run: int8 activations are quantised over the whole batch, so in a batch a vector would depend on its
 * neighbours.
 */
export async function loadInference(options: InferenceOptions): Promise<Inference> {
  forbidTelemetry();
  const { AutoModel, AutoTokenizer, Tensor, env } = await import("@huggingface/transformers");
  env.localModelPath = options.root;
  env.allowLocalModels = true;
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.useBrowserCache = false;
  const tokenizer = await AutoTokenizer.from_pretrained(MODEL_NAME);
  const model = await AutoModel.from_pretrained(MODEL_NAME, {
    dtype: "q8",
    device: "cpu",
    session_options: { intraOpNumThreads: options.threads, interOpNumThreads: 1 },
  });

  const tokenIds = (text: string): number[] => {
    const ids = tokenizer.encode(text.slice(0, options.maxTokens * CHARS_PER_TOKEN));
    const last = ids.at(-1);
    if (ids.length <= options.maxTokens || last === undefined) return ids;
    // The library's own truncation drops the final [SEP], which changes the vector.
    return [...ids.slice(0, options.maxTokens - 1), last];
  };

  return {
    tokenIds,
    embed: async (text) => {
      const ids = tokenIds(text);
      const shape = [1, ids.length];
      const output = await model({
        input_ids: new Tensor("int64", BigInt64Array.from(ids, BigInt), shape),
        attention_mask: new Tensor("int64", new BigInt64Array(ids.length).fill(1n), shape),
        token_type_ids: new Tensor("int64", new BigInt64Array(ids.length), shape),
      });
      return normalise(firstRow(output.last_hidden_state));
    },
    close: async () => {
      await model.dispose();
    },
  };
}

/** The part of a tensor that is read: shape [1, tokens, dimension], row by row. */
type HiddenState = {
  readonly data: Float32Array;
  readonly dims: readonly number[];
};

function firstRow(state: HiddenState): Float32Array {
  return state.data.slice(0, state.dims[2]);
}

function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const norm = Math.sqrt(sum);
  if (!Number.isFinite(norm) || norm === 0) throw new RangeError("the model gave no finite vector");
  return vector.map((value) => value / norm);
}
