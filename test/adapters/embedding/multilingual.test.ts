import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalEmbedder } from "../../../src/adapters/embedding/local-embedder.ts";
import { findModel } from "../../../src/domain/embedding-models.ts";
import type { Embedder } from "../../../src/ports/models.ts";

let embedder: Embedder;
beforeAll(() => {
  embedder = createLocalEmbedder({ model: findModel("multilingual") });
});
afterAll(() => embedder.close());

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe("the multilingual model", () => {
  test("names model, recipe and dimension", () => {
    expect(embedder.identity).toEqual({
      model: "intfloat/multilingual-e5-small",
      version: "q4-q8-mean-centred-l2-1",
      dimension: 384,
    });
  });

  test.each([
    ["German", "Wovor hat unser Hund Angst?"],
    ["Russian", "Чего боится наша собака?"],
    ["Japanese", "うちの犬は何が怖いですか？"],
  ])("finds in %s what was said in English", async (_language, question) => {
    const asked = await embedder.embedQuery(question);
    const near = await embedder.embedDocument("Our dog Coco is afraid of fireworks");
    const far = await embedder.embedDocument("The landlord wants the rent on the first");
    expect(near).toHaveLength(384);
    expect(Math.hypot(...near)).toBeCloseTo(1, 6);
    expect(cosine(asked, near)).toBeGreaterThan(0.3 + cosine(asked, far));
  });

  test("has cosines around 0 for texts that have nothing in common", async () => {
    const texts = [
      "The landlord wants the rent on the first",
      "猫は魚が好きです",
      "Она играет на скрипке",
    ];
    const vectors = await Promise.all(texts.map((text) => embedder.embedDocument(text)));
    for (const [index, vector] of vectors.entries()) {
      for (const other of vectors.slice(index + 1)) {
        expect(Math.abs(cosine(vector, other))).toBeLessThan(0.3);
      }
    }
  });

  test("embeds an empty text, unknown characters and 100,000 characters without a blank", async () => {
    for (const text of ["", "\u{1F9FF}\u0000\uD800", "漢".repeat(100_000)]) {
      expect(Math.hypot(...(await embedder.embedDocument(text)))).toBeCloseTo(1, 6);
    }
  });
});
