import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddingModel, Pooling } from "../../domain/embedding-models.ts";
import { streamSafe } from "../../lib/text.ts";
import { openSession, type Session, type SharedSession } from "../native/onnxruntime.ts";
import { returnFreed } from "./cores.ts";
import { unitLength } from "./remember.ts";
import { loadUnigram } from "./unigram.ts";

export type InferenceOptions = {
  readonly model: EmbeddingModel;
  /** Folder that holds the models, each under its name; see `modelRoot`. */
  readonly root: string;
  /** Threads within one run. More than 1 pays off only on idle cores: waiting threads spin. */
  readonly threads: number;
  /** Length limit in tokens, the first and the last included, 2 to 512. */
  readonly maxTokens: number;
  /** Where threads share the model. */
  readonly shared?: SharedSession | undefined;
};

/** A loaded model. One call at a time: the caller waits for each before the next. */
export type Inference = {
  /** The L2-normalised vector of a text. Blocks the thread while the model runs. */
  embed(text: string): Promise<Float32Array>;
  /** The token ids that `embed` gives to the model: at most `maxTokens`, in the model's frame. */
  tokenIds(text: string): number[];
  close(): Promise<void>;
};

/** Tokens are rarely longer, so a text cut to this many characters per token is long enough. */
const CHARS_PER_TOKEN = 64;

/**
 * Loads tokenizer and weights from disk and never from the network.
 *
 * Always one text per run: int8 activations are quantised over the whole batch, so in a batch a vector would depend on its
 * neighbours.
 */
export async function loadInference(options: InferenceOptions): Promise<Inference> {
  const { model, threads, maxTokens } = options;
  const encode = await TOKENIZERS[model.tokenizer](options);
  const weights = join(folderOf(options), model.other?.weights ?? WEIGHTS);
  const session = openSession(weights, threads, options.shared);
  const { inputs, output, pooling } = model.other === undefined ? model : waysOf(session, model);
  const centre = centreOf(model);
  // Loading frees copies of the weights, 18 MB.
  returnFreed();
  const tokenIds = (text: string): number[] =>
    encode(streamSafe(text.slice(0, maxTokens * CHARS_PER_TOKEN)));

  return {
    tokenIds,
    embed: async (text) => {
      const ids = tokenIds(text);
      const rows = inputs.map((name) => [name, INPUTS[name](ids)] as const);
      const data = session.run(rows, output);
      if (data.length !== (pooling === "none" ? 1 : ids.length) * model.dimension) {
        throw new RangeError(`the vectors of the model do not have ${model.dimension} numbers`);
      }
      const vector = unitLength(POOLING[pooling](data, model.dimension));
      return centre === undefined
        ? vector
        : unitLength(vector.map((value, index) => value - (centre[index] ?? 0)));
    },
    close: async () => session.release(),
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

/** The output has a row for each token, or is the vector. */
const POOLING: Readonly<Record<Pooling, (data: Float32Array, dimension: number) => Float32Array>> =
  {
    first: (data, dimension) => data.slice(0, dimension),
    last: (data, dimension) => data.slice(-dimension),
    // The sum has its direction.
    mean: (data, dimension) => {
      const sum = new Float32Array(dimension);
      for (const [at, value] of data.entries())
        sum[at % dimension] = (sum[at % dimension] ?? 0) + value;
      return sum;
    },
    none: (data) => data,
  };

type Ways = Pick<EmbeddingModel, "inputs" | "output" | "pooling">;

/** Inputs and outputs of a model's weights. @throws Error if this program does not know one of them */
function waysOf(
  session: Pick<Session, "inputNames" | "outputNames">,
  { pooling }: EmbeddingModel,
): Ways {
  const inputs = session.inputNames.map((name) => {
    const known = NAMES.find((one) => one === name);
    if (known === undefined) throw new Error(`the model wants ${name}, which svc does not know`);
    return known;
  });
  if (session.outputNames.includes(WHOLE)) return { inputs, output: WHOLE, pooling: "none" };
  const output = OUTPUTS.find((name) => session.outputNames.includes(name));
  if (output === undefined) throw new Error(`the model gives none of ${OUTPUTS.join(", ")}`);
  return { inputs, output, pooling };
}

const NAMES = ["input_ids", "attention_mask", "token_type_ids"] as const;
/** Output names for the vector itself, or a row for each token. */
const WHOLE = "sentence_embedding";
const OUTPUTS = ["last_hidden_state", "token_embeddings"];

function folderOf({ model, root }: InferenceOptions): string {
  return model.other?.folder ?? join(root, model.name);
}

function centreOf({ centre }: EmbeddingModel): Float16Array | undefined {
  return centre === undefined ? undefined : new Float16Array(Uint8Array.fromBase64(centre).buffer);
}

type Encode = (text: string) => number[];

const TOKENIZERS: Readonly<
  Record<EmbeddingModel["tokenizer"], (options: InferenceOptions) => Promise<Encode>>
> = {
  "tokenizer.json": async (options) => {
    const { maxTokens } = options;
    const { Tokenizer } = await import("@huggingface/tokenizers");
    const read = (name: string) => JSON.parse(readFileSync(join(folderOf(options), name), "utf8"));
    const tokenizer = new Tokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
    return (text) => {
      const { ids } = tokenizer.encode(text);
      const last = ids.at(-1);
      if (ids.length <= maxTokens || last === undefined) return ids;
      // Without its final token a text has another vector.
      return [...ids.slice(0, maxTokens - 1), last];
    };
  },
  "pieces.bin": async (options) => {
    const { tokenIds } = loadUnigram(readFileSync(join(folderOf(options), "pieces.bin")));
    return (text) => tokenIds(text, options.maxTokens);
  },
};
