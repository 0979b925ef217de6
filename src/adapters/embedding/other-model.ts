import { createHash, type Hash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_MODEL, type EmbeddingModel } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import { isJsonObject } from "../../lib/json.ts";

/** A local model that is not built in. */
export type OtherModelOptions = {
  readonly folder: string;
  readonly name: string;
  /** Overrides of what its files say or omit. */
  readonly dimension?: number | undefined;
  readonly pooling?: "cls" | "mean" | "last" | undefined;
  readonly documentPrefix?: string | undefined;
  readonly questionPrefix?: string | undefined;
};

const WEIGHTS = [
  "onnx/model_quantized.onnx",
  "onnx/model.onnx",
  "model_quantized.onnx",
  "model.onnx",
] as const;
const TOKENIZER = ["tokenizer.json", "tokenizer_config.json"] as const;

/** Files that describe how vectors are made; a model may lack them. */
export const RECIPE_FILES = [
  "1_Pooling/config.json",
  "config_sentence_transformers.json",
  "modules.json",
  "sentence_bert_config.json",
] as const;

/** Parts of a sentence-transformers model that this program knows. */
const KNOWN_PARTS = ["Transformer", "Pooling", "Normalize"];
const POOLINGS = { cls: "first", mean: "mean", last: "last" } as const;
/** Larger limits mean unlimited. */
const UNLIMITED_TOKENS = 1_000_000;

/**
 * How to use the model in a folder, according to its files: ONNX weights, a tokenizer, and for pooling, prefixes and limits the files of
 * sentence-transformers. Its recipe includes a hash of them, so that vectors of changed files do not mix with earlier ones.
 * @throws SvcError model_failed saying what is missing or unsuitable
 */
export function describeModel(options: OtherModelOptions): EmbeddingModel {
  const { folder, name } = options;
  const read = (file: string) => readObject(folder, file);
  const config = read("config.json");
  if (config === undefined) throw unfit(folder, "it has no config.json");
  const weights = WEIGHTS.find((file) => existsSync(join(folder, file)));
  if (weights === undefined) throw unfit(folder, `it has none of ${WEIGHTS.join(", ")}`);
  const missing = TOKENIZER.find((file) => !existsSync(join(folder, file)));
  if (missing !== undefined) throw unfit(folder, `it has no ${missing}`);
  requireKnownParts(folder);
  const dimension =
    options.dimension ?? wholeNumber(config["hidden_size"] ?? config["dim"] ?? config["d_model"]);
  if (dimension === undefined) {
    throw unfit(
      folder,
      "config.json does not say how many numbers a vector has; set embedding.dimension",
    );
  }
  const pooling = POOLINGS[options.pooling ?? poolingOf(folder)];
  const prefixes = prefixesOf(read("config_sentence_transformers.json"));
  const documentPrefix = options.documentPrefix ?? prefixes.document;
  return {
    ...DEFAULT_MODEL,
    name,
    alias: name,
    languages: "the languages that it reads",
    isEnglish: false,
    recipe: `onnx-${hashOf(folder, weights, [pooling, documentPrefix])}`,
    dimension,
    documentPrefix,
    questionPrefix: options.questionPrefix ?? prefixes.question,
    tokenizer: "tokenizer.json",
    files: [],
    pooling,
    other: {
      folder,
      weights,
      maxTokens: limitOf([
        read("sentence_bert_config.json")?.["max_seq_length"],
        read("tokenizer_config.json")?.["model_max_length"],
        config["max_position_embeddings"],
      ]),
    },
  };
}

function requireKnownParts(folder: string): void {
  const parts: unknown = readJson(folder, "modules.json") ?? [];
  if (!Array.isArray(parts)) throw unfit(folder, "modules.json is no list");
  for (const part of parts) {
    const kind =
      String(isJsonObject(part) ? part["type"] : part)
        .split(".")
        .at(-1) ?? "";
    if (!KNOWN_PARTS.includes(kind)) {
      throw unfit(folder, `it has a part that svc does not know (${kind.slice(0, 40)})`);
    }
  }
}

function poolingOf(folder: string): keyof typeof POOLINGS {
  const file = "1_Pooling/config.json";
  const config = readObject(folder, file);
  if (config === undefined) {
    throw unfit(
      folder,
      `it has no ${file}; set embedding.pooling to cls, mean or last, as its authors say`,
    );
  }
  const modes = Object.keys(config).filter(
    (key) => key.startsWith("pooling_mode_") && config[key] === true,
  );
  if (modes.length === 1 && config["include_prompt"] !== false) {
    if (modes[0] === "pooling_mode_cls_token") return "cls";
    if (modes[0] === "pooling_mode_mean_tokens") return "mean";
    if (modes[0] === "pooling_mode_lasttoken") return "last";
  }
  throw unfit(folder, `svc does not know the way in which ${file} makes a vector`);
}

function prefixesOf(config: Readonly<Record<string, unknown>> | undefined): {
  readonly document: string;
  readonly question: string;
} {
  const prompts = isJsonObject(config?.["prompts"]) ? config["prompts"] : {};
  const named = (...names: readonly unknown[]): string => {
    const found = names.map((name) => prompts[String(name)]);
    return found.find((prompt) => typeof prompt === "string") ?? "";
  };
  const otherwise = config?.["default_prompt_name"];
  return { document: named("document", "passage", otherwise), question: named("query", otherwise) };
}

function limitOf(limits: readonly unknown[]): number | undefined {
  const known = limits
    .map(wholeNumber)
    .filter((limit) => limit !== undefined && limit > 2 && limit < UNLIMITED_TOKENS);
  return known.length === 0 ? undefined : Math.min(...known.map(Number));
}

/** Number and size of the samples of a large file. */
const SAMPLES = 16;
const SAMPLE_BYTES = 64 * 1024;

/** A fingerprint of what determines the vectors. Large files are sampled: opening a pack needs it at once. */
function hashOf(folder: string, weights: string, recipe: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(recipe));
  for (const file of [...TOKENIZER, weights, `${weights}_data`, `${weights}.data`]) {
    const path = join(folder, file);
    if (existsSync(path)) addSamples(hash, path);
  }
  return hash.digest("hex").slice(0, 12);
}

function addSamples(hash: Hash, path: string): void {
  const handle = openSync(path, "r");
  try {
    const { size } = fstatSync(handle);
    hash.update(`\0${size}\0`);
    const piece = Buffer.alloc(SAMPLE_BYTES);
    const step = Math.max(SAMPLE_BYTES, Math.ceil((size - SAMPLE_BYTES) / SAMPLES));
    for (let at = 0; at < size; at += step) {
      hash.update(piece.subarray(0, readSync(handle, piece, 0, SAMPLE_BYTES, at)));
    }
  } finally {
    closeSync(handle);
  }
}

function readObject(folder: string, file: string): Readonly<Record<string, unknown>> | undefined {
  const value = readJson(folder, file);
  if (value === undefined || isJsonObject(value)) return value;
  throw unfit(folder, `${file} is no JSON object`);
}

function readJson(folder: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, file), "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw unfit(folder, `${file} is no JSON`);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unfit(folder, `${file} cannot be read (${String(code)})`);
  }
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function unfit(folder: string, reason: string): SvcError {
  return new SvcError("model_failed", `the embedding model in ${folder} cannot be used: ${reason}`);
}
