import { MULTILINGUAL_CENTRE } from "./embedding-centre.ts";

/**
 * The embedding models that are part of the program, with everything in which they differ. One more model is one more row and its
 * files in `src/adapters/embedding/models/<name>/`.
 */
export const EMBEDDING_MODELS = [
  {
    name: "BAAI/bge-small-en-v1.5",
    alias: "english",
    languages: "English",
    isEnglish: true,
    recipe: "q8-cls-l2-1",
    dimension: 384,
    documentPrefix: "",
    questionPrefix: "Represent this sentence for searching relevant passages: ",
    tokenizer: "tokenizer.json",
    files: ["config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model_quantized.onnx"],
    inputs: ["input_ids", "attention_mask", "token_type_ids"],
    output: "last_hidden_state",
    pooling: "first",
    lean: 0.25,
    likeMemories: { scale: 1, shift: 0 },
    likeQuestions: { scale: 1, shift: 0 },
  },
  {
    name: "intfloat/multilingual-e5-small",
    alias: "multilingual",
    languages: "about 100 languages",
    isEnglish: false,
    recipe: "q4-q8-mean-centred-l2-1",
    dimension: 384,
    documentPrefix: "passage: ",
    questionPrefix: "query: ",
    tokenizer: "pieces.bin",
    files: ["pieces.bin", "onnx/model_quantized.onnx"],
    inputs: ["input_ids", "attention_mask"],
    output: "sentence_embedding",
    pooling: "none",
    centre: MULTILINGUAL_CENTRE,
    lean: 0.35,
    likeMemories: { scale: 0.679, shift: 0.35 },
    likeQuestions: { scale: 0.644, shift: 0.394 },
  },
] as const satisfies readonly [EmbeddingModel, ...EmbeddingModel[]];

export type EmbeddingModel = {
  /** Its name in packs, and its folder. */
  readonly name: string;
  readonly alias: string;
  readonly languages: string;
  readonly isEnglish: boolean;
  /** Names weights and pooling in packs. Another one whenever a vector changes. */
  readonly recipe: string;
  readonly dimension: number;
  /** Precede every text that is embedded. */
  readonly documentPrefix: string;
  readonly questionPrefix: string;
  /** The file with its tokens, which also says how texts are split. */
  readonly tokenizer: "tokenizer.json" | "pieces.bin";
  readonly files: readonly string[];
  readonly inputs: readonly ("input_ids" | "attention_mask" | "token_type_ids")[];
  readonly output: string;
  /** The vector is the output's row of the first or the last token, their mean, or (`none`) the output. */
  readonly pooling: Pooling;
  /** A model that is not part of the program: then its weights say what they take and give. */
  readonly other?: OtherFiles;
  /**
   * Its mean vector, which is subtracted from every vector, as 16-bit numbers in base64. All vectors of some models point the same
   * way; what they have in common says nothing and raises whatever is an average of several. Absent: nothing is subtracted.
   */
  readonly centre?: string;
  /** Weight of each neighbouring turn's vector in the indexed vector of a turn, 0 to 1. */
  readonly lean: number;
  /**
   * Its cosines of two memories, and of a question and a memory, on the scale of the default model, which all thresholds are on.
   * Measured with `scripts/quality/cosines.ts`.
   */
  readonly likeMemories: CosineScale;
  readonly likeQuestions: CosineScale;
};

export type Pooling = "first" | "last" | "mean" | "none";

/** Where the files of a model lie that is not part of the program. */
type OtherFiles = {
  /** Absolute. */
  readonly folder: string;
  /** Below the folder. */
  readonly weights: string;
  /** Tokens that it reads, the first and the last included. Undefined: unknown. */
  readonly maxTokens: number | undefined;
};

/** A straight line from the cosines of one model to those of another. */
type CosineScale = { readonly scale: number; readonly shift: number };

export const DEFAULT_MODEL: EmbeddingModel = EMBEDDING_MODELS[0];

/** The model of that name or alias; undefined if it is not in the table. */
export function findModel(name: string): EmbeddingModel | undefined {
  return EMBEDDING_MODELS.find((model) => model.name === name || model.alias === name);
}

/** How vectors of a model are used. A model that is not in the table counts as the default one. */
export function modelRules(
  name: string | undefined,
): Pick<EmbeddingModel, "lean" | "likeMemories" | "likeQuestions"> {
  return EMBEDDING_MODELS.find((model) => model.name === name) ?? DEFAULT_MODEL;
}

export function onScale({ scale, shift }: CosineScale, cosine: number): number {
  return scale * cosine + shift;
}

type EmbeddingIdentity = {
  readonly model: string;
  readonly version: string;
  readonly dimension: number;
};

/** Whether vectors of the two can be compared: all three fields are equal. */
export function isSameEmbedding(
  one: EmbeddingIdentity | undefined,
  other: EmbeddingIdentity,
): boolean {
  return (
    one?.model === other.model && one.version === other.version && one.dimension === other.dimension
  );
}

/** The cosine of two vectors of length one and equal dimension. */
export function unitCosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
