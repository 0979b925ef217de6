import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Inference, loadInference } from "../../../src/adapters/embedding/inference.ts";
import { modelRoot } from "../../../src/adapters/embedding/model-files.ts";
import { DEFAULT_MODEL } from "../../../src/domain/embedding-models.ts";
import { processorMs } from "../../processor-time.ts";

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
