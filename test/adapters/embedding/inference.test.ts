import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Inference, loadInference } from "../../../src/adapters/embedding/inference.ts";
import { modelRoot } from "../../../src/adapters/embedding/model-files.ts";
import { loadUnigram } from "../../../src/adapters/embedding/unigram.ts";
import {
  createSharedSession,
  openSession,
  type SharedSession,
} from "../../../src/adapters/native/onnxruntime.ts";
import { DEFAULT_MODEL } from "../../../src/domain/embedding-models.ts";
import { processorMs } from "../../processor-time.ts";
import SAMPLE from "./token-ids.json";

const CLS = 101;
const SEP = 102;
const LONG = "She planted beans, peas and maize along the southern fence of the garden. ".repeat(
  60,
);

let model: Inference;
let short: Inference;

beforeAll(async () => {
  model = await loadInference({
    model: DEFAULT_MODEL,
    root: modelRoot(DEFAULT_MODEL),
    threads: 1,
    maxTokens: 512,
  });
  short = await loadInference({
    model: DEFAULT_MODEL,
    root: modelRoot(DEFAULT_MODEL),
    threads: 1,
    maxTokens: 16,
  });
});

afterAll(async () => {
  await model.close();
  await short.close();
});

describe("tokenIds", () => {
  test("encodes a text as the model's tokenizer does", () => {
    expect(model.tokenIds("Hello, world!")).toEqual([CLS, 7592, 1010, 2088, 999, SEP]);
  });

  test("gives the frame alone for an empty text", () => {
    expect(model.tokenIds("")).toEqual([CLS, SEP]);
  });

  test("cuts a long text to 512 tokens and keeps the final separator", () => {
    const ids = model.tokenIds(LONG);
    expect(ids).toHaveLength(512);
    expect(ids[0]).toBe(CLS);
    expect(ids.at(-1)).toBe(SEP);
    expect(ids.filter((id) => id === SEP)).toHaveLength(1);
  });

  test("keeps the first tokens when it cuts", () => {
    const ids = short.tokenIds(LONG);
    expect(ids).toEqual([...model.tokenIds(LONG).slice(0, 15), SEP]);
  });

  test("stays quick for a text of a million characters", () => {
    const started = processorMs();
    expect(model.tokenIds("word ".repeat(200_000))).toHaveLength(512);
    expect(processorMs() - started).toBeLessThan(1000);
  });
});

describe("embed", () => {
  test("gives 384 numbers of unit length", async () => {
    const vector = await model.embed("Hello, world!");
    expect(vector).toBeInstanceOf(Float32Array);
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  });

  test("does not depend on what was embedded before", async () => {
    const alone = await model.embed("The ferry leaves at nine");
    await model.embed(LONG);
    expect(await model.embed("The ferry leaves at nine")).toEqual(alone);
  });

  test("ignores what lies beyond the limit", async () => {
    expect(await model.embed(`${LONG} and then something else`)).toEqual(await model.embed(LONG));
  });

  test("embeds an empty text and one of unknown characters", async () => {
    for (const text of ["", "\u{1F9FF}\u0000\uD800"]) {
      expect(Math.hypot(...(await model.embed(text)))).toBeCloseTo(1, 6);
    }
  });
});

describe("threads of one model", () => {
  const weights = join(modelRoot(DEFAULT_MODEL), DEFAULT_MODEL.name, "onnx/model_quantized.onnx");
  const isLoaded = (shared: SharedSession) => new BigUint64Array(shared, 8, 1)[0] !== 0n;
  const load = (shared: SharedSession) =>
    loadInference({
      model: DEFAULT_MODEL,
      root: modelRoot(DEFAULT_MODEL),
      threads: 1,
      maxTokens: 512,
      shared,
    });

  test("have it in memory once, until the last of them is closed", async () => {
    const shared = createSharedSession();
    const [one, other] = await Promise.all([load(shared), load(shared)]);
    const expected = await model.embed("The ferry leaves at nine");
    await one.close();
    expect(await other.embed("The ferry leaves at nine")).toEqual(expected);
    await other.close();
    expect(isLoaded(shared)).toBeFalse();
    const again = await load(shared);
    expect(await again.embed("The ferry leaves at nine")).toEqual(expected);
    await again.close();
  });

  test("keep it when one of them dies", async () => {
    const shared = createSharedSession();
    const file = join(import.meta.dir, "../../../src/adapters/native/onnxruntime.ts");
    const program = `
      const { openSession } = await import(${JSON.stringify(file)});
      openSession(${JSON.stringify(weights)}, 1, process.getBuiltinModule("node:worker_threads").workerData);
      process.exit(1);`;
    const worker = new Worker(program, { eval: true, workerData: shared });
    await once(worker, "exit");
    expect(isLoaded(shared)).toBeTrue();
    const other = await load(shared);
    expect(await other.embed("tea")).toEqual(await model.embed("tea"));
    await other.close();
    expect(isLoaded(shared)).toBeTrue();
  });

  test("try in turn when the file is damaged", () => {
    const shared = createSharedSession();
    const damaged = join(import.meta.dir, "token-ids.json");
    for (let turn = 0; turn < 2; turn += 1) {
      expect(() => openSession(damaged, 1, shared)).toThrow("Protobuf parsing failed");
    }
    openSession(weights, 1, shared).release();
    expect(isLoaded(shared)).toBeFalse();
  });
});

test("leaves nothing in the home folder and reports to nobody", async () => {
  const home = mkdtempSync(join(tmpdir(), "svc-test-"));
  const file = join(import.meta.dir, "../../../src/adapters/embedding/inference.ts");
  const program = `
    const { loadInference } = await import(${JSON.stringify(file)});
    const model = await loadInference({ model: ${JSON.stringify(DEFAULT_MODEL)}, root: ${JSON.stringify(modelRoot(DEFAULT_MODEL))}, threads: 1, maxTokens: 512 });
    await model.embed("text");`;
  // Bun's own cache of compiled modules is not what is looked for here.
  const env = { HOME: home, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
  const child = Bun.spawn([process.execPath, "-e", program], { env, stderr: "inherit" });
  expect(await child.exited).toBe(0);
  // The library's maker would keep an identifier of the device here.
  expect(readdirSync(home)).toEqual([]);
  rmSync(home, { recursive: true, force: true });
});

const FOLDER = "../../../src/adapters/embedding/models/intfloat/multilingual-e5-small";
const file = readFileSync(join(import.meta.dir, FOLDER, "pieces.bin"));
const { tokenIds } = loadUnigram(file);
const ALL = Number.MAX_SAFE_INTEGER;

/*
 * token-ids.json holds what `@huggingface/transformers` makes of texts of 32 languages. Its words are locale data
 * of Unicode CLDR, under the Unicode License v3 (https://www.unicode.org/license.txt).
 */
describe("the tokenizer of the multilingual model", () => {
  test("gives the ids of the reference for texts of 32 languages", () => {
    expect(SAMPLE.length).toBeGreaterThan(100);
    for (const [text, ids] of SAMPLE)
      expect([text, tokenIds(String(text), ALL)]).toEqual([text, ids]);
  });

  test("gives the frame alone for an empty text, and a blank its own token", () => {
    expect(tokenIds("", 2)).toEqual([0, 2]);
    expect(tokenIds(" ", 8)).toEqual([0, 6, 2]);
  });

  test("cuts a long text to its first tokens and keeps the frame", () => {
    const text = "Hello, world! ".repeat(100);
    expect(tokenIds(text, 7)).toEqual([...tokenIds(text, ALL).slice(0, 6), 2]);
    expect(tokenIds(text, 2)).toEqual([0, 2]);
  });

  test("treats the names of special tokens as text", () => {
    expect(tokenIds("</s><mask>", ALL).slice(1, -1)).not.toContain(2);
    expect(tokenIds("<mask>", ALL)).not.toContain(250_001);
  });

  test("makes one unknown token of a row of characters without a piece", () => {
    expect(tokenIds("\u{1F9FF}\u{1F9FF}\uD800", ALL)).toEqual([0, 6, 3, 2]);
  });

  test("gives composed and decomposed accents the same ids", () => {
    expect(tokenIds("Ä café".normalize("NFD"), ALL)).toEqual(tokenIds("Ä café", ALL));
  });

  test.each([
    ["x", 33_336],
    ["漢", 100_003],
  ])("splits 100,000 times %s, without a blank", (unit, length) => {
    expect(tokenIds(unit.repeat(100_000), ALL)).toHaveLength(length);
  });
});
