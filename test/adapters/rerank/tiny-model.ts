import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Constant, type Operation, onnxModel } from "./onnx-writer.ts";

/**
 * Two models of a few kilobytes for the real runtime: `relevance` answers with the number of pairs of equal words in the two texts,
 * less 2, `labels` with three numbers.
 */
export type TinyKind = "relevance" | "labels";

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] as const;
const WORDS =
  "ann bob likes drinks tea coffee lives in oslo bergen moved the a e1 e2 key lies under flower pot 1 2 3 5 may".split(
    " ",
  );
const VOCABULARY = [...SPECIAL, ...WORDS];

const LABELS = { 0: "no", 1: "yes", 2: "neither" } as const;

/** Files of a model by name below its folder. */
export function tinyModelFiles(kind: TinyKind): Readonly<Record<string, Uint8Array>> {
  const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  return {
    "config.json": json(config(kind)),
    "tokenizer.json": json(tokenizer()),
    "tokenizer_config.json": json({
      tokenizer_class: "BertTokenizer",
      do_lower_case: true,
      model_max_length: 64,
      unk_token: "[UNK]",
      sep_token: "[SEP]",
      pad_token: "[PAD]",
      cls_token: "[CLS]",
      mask_token: "[MASK]",
    }),
    "onnx/model.onnx": weights(kind),
  };
}

/** Writes a model into a folder and returns its path. */
export function writeTinyModel(kind: TinyKind, folder: string): string {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  for (const [name, content] of Object.entries(tinyModelFiles(kind))) {
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What the relevance model says of two texts that share so many words. */
export function relevanceOf(shared: number): number {
  return 1 / (1 + Math.exp(2 - shared));
}

function config(kind: TinyKind): object {
  const labels = kind === "relevance" ? { 0: "LABEL_0" } : LABELS;
  return {
    architectures: ["BertForSequenceClassification"],
    model_type: "bert",
    id2label: labels,
    label2id: Object.fromEntries(Object.entries(labels).map(([id, name]) => [name, Number(id)])),
    vocab_size: VOCABULARY.length,
    max_position_embeddings: 64,
    type_vocab_size: 2,
  };
}

function tokenizer(): object {
  const id = (token: string): number => VOCABULARY.indexOf(token);
  const special = (token: string, type: number) => ({ SpecialToken: { id: token, type_id: type } });
  const sequence = (name: string, type: number) => ({ Sequence: { id: name, type_id: type } });
  const single = [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)];
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({
      id: id(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single,
      pair: [...single, sequence("B", 1), special("[SEP]", 1)],
      special_tokens: Object.fromEntries(
        ["[CLS]", "[SEP]"].map((token) => [
          token,
          { id: token, ids: [id(token)], tokens: [token] },
        ]),
      ),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((word, at) => [word, at])),
    },
  };
}

function weights(kind: TinyKind): Uint8Array {
  const isWord = (word: string): boolean => WORDS.includes(word);
  const size = VOCABULARY.length;
  const head =
    kind === "relevance" ? { matrix: [1], bias: [-2] } : { matrix: [1, 1, 1], bias: [0, 0, 0] };
  const labels = head.bias.length;
  const constants: readonly Constant[] = [
    { name: "words", dims: [size], floats: VOCABULARY.map((word) => Number(isWord(word))) },
    { name: "one", dims: [], floats: [1] },
    { name: "axis1", dims: [1], integers: [1] },
    { name: "axis2", dims: [1], integers: [2] },
    { name: "matrix", dims: [1, labels], floats: head.matrix },
    { name: "bias", dims: [labels], floats: head.bias },
  ];
  const step = (
    output: string,
    type: string,
    inputs: readonly string[],
    integers: Readonly<Record<string, number>> = {},
  ): Operation => ({ output, type, inputs, integers });
  const operations = [
    step("is_second", "Cast", ["token_type_ids"], { to: 1 }),
    step("is_first", "Sub", ["one", "is_second"]),
    step("is_word", "Gather", ["words", "input_ids"]),
    step("word_first", "Mul", ["is_word", "is_first"]),
    step("word_second", "Mul", ["is_word", "is_second"]),
    step("ids_down", "Unsqueeze", ["input_ids", "axis2"]),
    step("ids_across", "Unsqueeze", ["input_ids", "axis1"]),
    step("same", "Equal", ["ids_down", "ids_across"]),
    step("equal", "Cast", ["same"], { to: 1 }),
    step("second_down", "Unsqueeze", ["word_second", "axis2"]),
    step("matches", "MatMul", ["equal", "second_down"]),
    step("first_down", "Unsqueeze", ["word_first", "axis2"]),
    step("counted", "Mul", ["first_down", "matches"]),
    step("shared", "ReduceSum", ["counted", "axis1"], { keepdims: 0 }),
    step("logits", "Gemm", ["shared", "matrix", "bias"]),
  ];
  const inputs = ["input_ids", "attention_mask", "token_type_ids"].map((name) => ({
    name,
    type: "int64" as const,
    dims: ["batch", "tokens"],
  }));
  const outputs = [{ name: "logits", type: "float" as const, dims: ["batch", labels] }];
  return onnxModel({ constants, operations, inputs, outputs });
}
