import { MULTILINGUAL_CENTRE } from "./embedding-centre.ts";

/**
 * The built-in embedding models and all their differences. Adding a model takes one row, and its files in
 * `src/adapters/embedding/models/<name>/`.
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
  /** Name in packs, and of its folder. */
  readonly name: string;
  readonly alias: string;
  readonly languages: string;
  readonly isEnglish: boolean;
  /** Identifies weights and pooling in packs. Changes whenever a vector changes. */
  readonly recipe: string;
  readonly dimension: number;
  /** Prefixes for every embedded text. */
  readonly documentPrefix: string;
  readonly questionPrefix: string;
  /** The tokenizer file, which also says how texts are split. */
  readonly tokenizer: "tokenizer.json" | "pieces.bin";
  readonly files: readonly string[];
  readonly inputs: readonly ("input_ids" | "attention_mask" | "token_type_ids")[];
  readonly output: string;
  /** The vector is the output's row of the first or the last token, their mean, or (`none`) the output. */
  readonly pooling: Pooling;
  /** A model that is not built in: its weights determine input and output. */
  readonly other?: OtherFiles;
  /**
   * Its mean vector, which is subtracted from every vector, as 16-bit numbers in base64. The vectors of some models all lean one way; that
   * common part carries no information and favours averages. Absent: nothing is subtracted.
   */
  readonly centre?: string;
  /** Weight of each neighbouring turn's vector in the indexed vector of a turn, 0 to 1. */
  readonly lean: number;
  /**
   * Maps its cosines, of two memories and of a question and a memory, to the scale of the default model, which all thresholds use. Measured
   * with `scripts/quality/cosines.ts`.
   */
  readonly likeMemories: CosineScale;
  readonly likeQuestions: CosineScale;
};

export type Pooling = "first" | "last" | "mean" | "none";

/** Location of the files of a model that is not built in. */
type OtherFiles = {
  /** Absolute. */
  readonly folder: string;
  /** Below the folder. */
  readonly weights: string;
  /** Tokens that it reads, including the first and the last. Undefined: unknown. */
  readonly maxTokens: number | undefined;
};

/** A linear map from the cosines of one model to those of another. */
type CosineScale = { readonly scale: number; readonly shift: number };

export const DEFAULT_MODEL: EmbeddingModel = EMBEDDING_MODELS[0];

/** The model with that name or alias; undefined if unknown. */
export function findModel(name: string): EmbeddingModel | undefined {
  return EMBEDDING_MODELS.find((model) => model.name === name || model.alias === name);
}

/** How vectors of a model are used. An unknown model is treated as the default one. */
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

/** Whether vectors of the two are comparable: all three fields are equal. */
export function isSameEmbedding(
  one: EmbeddingIdentity | undefined,
  other: EmbeddingIdentity,
): boolean {
  return (
    one?.model === other.model && one.version === other.version && one.dimension === other.dimension
  );
}

/** The cosine of two unit vectors of equal dimension. */
export function unitCosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
