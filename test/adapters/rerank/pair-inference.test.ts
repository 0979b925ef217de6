import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  framePair,
  loadPairInference,
  type PairInference,
  type PairTokenizer,
  readFrame,
} from "../../../src/adapters/rerank/pair-inference.ts";
import { processorMs } from "../../processor-time.ts";
import { relevanceOf, writeTinyModel } from "./tiny-model.ts";

const place = mkdtempSync(join(tmpdir(), "svc-pairs-"));
const relevanceFolder = writeTinyModel("relevance", join(place, "relevance"));

let relevance: PairInference;

const load = (folder: string) => loadPairInference({ folder, threads: 1, maxTokens: 512 });

beforeAll(async () => {
  relevance = await load(relevanceFolder);
});

afterAll(async () => {
  await relevance.close();
  rmSync(place, { recursive: true, force: true });
});

describe("relevance", () => {
  test.each([
    { text: "the flower pot", shared: 0 },
    { text: "Ann lives in Bergen", shared: 2 },
    { text: "Ann lives in Oslo", shared: 3 },
    { text: "Ann and Ann", shared: 2 },
  ])("is the logistic function of the model's number for '$text'", async ({ text, shared }) => {
    const value = await relevance.judge("ann lives oslo", text);
    expect(value).toBeCloseTo(relevanceOf(shared), 6);
  });

  test("tells the two texts apart", async () => {
    expect(await relevance.judge("ann ann", "")).toEqual(relevanceOf(0));
    expect(await relevance.judge("ann", "ann")).toBeCloseTo(relevanceOf(1), 6);
  });

  test("does not depend on what was read before", async () => {
    const before = await relevance.judge("ann likes tea", "ann likes coffee");
    await relevance.judge("word ".repeat(500), "ann ".repeat(500));
    expect(await relevance.judge("ann likes tea", "ann likes coffee")).toEqual(before);
  });

  test("keeps both texts within the model's limit, and both ends of the frame", async () => {
    // 64 tokens less [CLS] and two [SEP] leave 61, of which the question has 31.
    const value = await relevance.judge("ann ".repeat(100), `${"tea ".repeat(29)}ann`);
    expect(value).toBeCloseTo(relevanceOf(31), 6);
    const cut = await relevance.judge("ann ".repeat(100), `${"tea ".repeat(30)}ann`);
    expect(cut).toBeCloseTo(relevanceOf(0), 6);
  });

  test("stays quick for texts of a million characters", async () => {
    const started = processorMs();
    await relevance.judge("ann ".repeat(250_000), "tea ".repeat(250_000));
    expect(processorMs() - started).toBeLessThan(1000);
  });

  test("reads empty texts and unknown characters", async () => {
    expect(await relevance.judge("", "")).toEqual(relevanceOf(0));
    expect(await relevance.judge("\u{1F9FF}\u0000", "\uD800")).toEqual(relevanceOf(0));
  });
});

describe("a folder", () => {
  test("may hold the weights beside the other files", async () => {
    const flat = writeTinyModel("relevance", join(place, "flat"));
    renameSync(join(flat, "onnx/model.onnx"), join(flat, "model.onnx"));
    const model = await load(flat);
    expect(await model.judge("ann", "ann")).toBeCloseTo(relevanceOf(1), 6);
    await model.close();
  });

  test("without weights is named with what it should hold", async () => {
    const empty = join(place, "empty");
    mkdirSync(empty);
    await expect(load(empty)).rejects.toThrow(`${empty} holds none of onnx/model_`);
  });

  test("with damaged weights is refused", async () => {
    const damaged = writeTinyModel("relevance", join(place, "damaged"));
    writeFileSync(join(damaged, "onnx/model.onnx"), "no model");
    await expect(load(damaged)).rejects.toThrow();
  });
});

/** One id a character; special tokens are 0 and 2. */
const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

const bert: PairTokenizer = {
  plain: letters,
  framed: (first, second) => {
    const left = [0, ...letters(first), 2];
    const right = [...letters(second), 2];
    return {
      ids: [...left, ...right],
      types: [...left.map(() => 0), ...right.map(() => 1)],
    };
  },
};

const roberta: PairTokenizer = {
  plain: letters,
  framed: (first, second) => {
    const ids = [0, ...letters(first), 2, 2, ...letters(second), 2];
    return { ids, types: ids.map(() => 0) };
  },
};

describe.each([
  { name: "BERT's frame", tokenizer: bert, special: 3 },
  { name: "RoBERTa's frame", tokenizer: roberta, special: 4 },
])("$name", ({ tokenizer, special }) => {
  const frame = readFrame(tokenizer);

  test("gives what the tokenizer gives for every pair that fits", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        const pair = framePair(frame, tokenizer.plain(first), tokenizer.plain(second), 1000);
        expect(pair).toEqual(tokenizer.framed(first, second));
      }),
    );
  });

  test("never exceeds the limit and keeps every special token", () => {
    const lengths = fc.nat({ max: 80 });
    fc.assert(
      fc.property(lengths, lengths, fc.integer({ min: special, max: 90 }), (a, b, limit) => {
        const first = letters("a".repeat(a));
        const second = letters("b".repeat(b));
        const { ids, types } = framePair(frame, first, second, limit);
        expect(ids.length).toBe(Math.min(limit, a + b + special));
        expect(types.length).toBe(ids.length);
        expect(ids.filter((id) => id <= 2)).toHaveLength(special);
      }),
    );
  });

  test("cuts the longer text until both are equally long", () => {
    const lengthsOf = (a: number, b: number, room: number): readonly number[] => {
      const pair = framePair(frame, letters("a".repeat(a)), letters("b".repeat(b)), room + special);
      return ["a", "b"].map((letter) => pair.ids.filter((id) => id === letters(letter)[0]).length);
    };
    expect(lengthsOf(10, 4, 10)).toEqual([6, 4]);
    expect(lengthsOf(4, 10, 10)).toEqual([4, 6]);
    expect(lengthsOf(20, 20, 10)).toEqual([5, 5]);
    expect(lengthsOf(20, 20, 9)).toEqual([5, 4]);
  });
});

test("a tokenizer that does not take pairs is refused", () => {
  const single: PairTokenizer = {
    plain: letters,
    framed: (first) => ({ ids: [0, ...letters(first), 2], types: [] }),
  };
  expect(() => readFrame(single)).toThrow("does not encode pairs");
});
