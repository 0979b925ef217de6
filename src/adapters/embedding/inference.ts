import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddingModel } from "../../domain/embedding-models.ts";
import { streamSafe } from "../../lib/normal-form.ts";
import { forbidTelemetry } from "../native/no-telemetry.ts";
import { loadUnigram } from "./unigram.ts";

/** How the model is run. */
export type InferenceOptions = {
  readonly model: EmbeddingModel;
  /** Folder that holds the models, each under its name; see `modelRoot`. */
  readonly root: string;
  /** Threads within one run. More than 1 pays off only on idle cores: waiting threads spin. */
  readonly threads: number;
  /** Length limit in tokens, the first and the last included, 2 to 512. */
  readonly maxTokens: number;
};

/** A loaded model. One call at a time: the caller waits for each before the next. */
export type Inference = {
  /** The L2-normalised vector of a text. Blocks the thread while the model runs. */
  embed(text: string): Promise<Float32Array>;
  /** The token ids that `embed` gives to the model: at most `maxTokens`, in the model's frame. */
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
  const { model, root, threads, maxTokens } = options;
  forbidTelemetry();
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const encode = await TOKENIZERS[model.tokenizer](options);
  const session = await InferenceSession.create(join(root, model.name, WEIGHTS), {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  });
  const centre = centreOf(model);
  const tokenIds = (text: string): number[] =>
    encode(streamSafe(text.slice(0, maxTokens * CHARS_PER_TOKEN)));

  return {
    tokenIds,
    embed: async (text) => {
      const ids = tokenIds(text);
      const tensors = model.inputs.map((name) => {
        const values = INPUTS[name](ids);
        return [name, new Tensor("int64", values, [1, ids.length])] as const;
      });
      const output = await session.run(Object.fromEntries(tensors), [model.output]);
      const data = output[model.output]?.data;
      if (!(data instanceof Float32Array)) throw new TypeError("the model gave no numbers");
      const vector = normalise(POOLING[model.pooling](data, model.dimension));
      return centre === undefined
        ? vector
        : normalise(vector.map((value, index) => value - (centre[index] ?? 0)));
    },
    close: async () => {
      await session.release();
    },
  };
}

const WEIGHTS = "onnx/model_quantized.onnx";

const INPUTS: Readonly<
  Record<EmbeddingModel["inputs"][number], (ids: readonly number[]) => BigInt64Array>
> = {
  input_ids: (ids) => BigInt64Array.from(ids, BigInt),
  attention_mask: ({ length }) => new BigInt64Array(length).fill(1n),
  token_type_ids: ({ length }) => new BigInt64Array(length),
};

const POOLING: Readonly<
  Record<EmbeddingModel["pooling"], (data: Float32Array, dimension: number) => Float32Array>
> = {
  // The output has a row for each token.
  first: (data, dimension) => data.slice(0, dimension),
  none: (data) => data,
};

function centreOf({ centre }: EmbeddingModel): Float16Array | undefined {
  return centre === undefined ? undefined : new Float16Array(Uint8Array.fromBase64(centre).buffer);
}

type Encode = (text: string) => number[];

const TOKENIZERS: Readonly<
  Record<EmbeddingModel["tokenizer"], (options: InferenceOptions) => Promise<Encode>>
> = {
  "tokenizer.json": async ({ model, root, maxTokens }) => {
    const { AutoTokenizer, env } = await import("@huggingface/transformers");
    env.localModelPath = root;
    env.allowLocalModels = true;
    env.allowRemoteModels = false;
    env.useFSCache = false;
    env.useBrowserCache = false;
    const tokenizer = await AutoTokenizer.from_pretrained(model.name);
    return (text) => {
      const ids = tokenizer.encode(text);
      const last = ids.at(-1);
      if (ids.length <= maxTokens || last === undefined) return ids;
      // The library's own truncation drops the final token, which changes the vector.
      return [...ids.slice(0, maxTokens - 1), last];
    };
  },
  "pieces.bin": async ({ model, root, maxTokens }) => {
    const { tokenIds } = loadUnigram(readFileSync(join(root, model.name, "pieces.bin")));
    return (text) => tokenIds(text, maxTokens);
  },
};

function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const norm = Math.sqrt(sum);
  if (!Number.isFinite(norm) || norm === 0) throw new RangeError("the model gave no finite vector");
  return vector.map((value) => value / norm);
}
