import { describe, expect, test } from "bun:test";
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  findModel,
  modelRules,
  onScale,
} from "../../src/domain/embedding-models.ts";

describe("the table of embedding models", () => {
  test("has every name and alias once", () => {
    const names = EMBEDDING_MODELS.flatMap(({ name, alias }) => [name, alias]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("finds a model by its name and by its alias, and no other", () => {
    for (const model of EMBEDDING_MODELS) {
      expect(findModel(model.name)).toBe(model);
      expect(findModel(model.alias)).toBe(model);
    }
    expect(findModel("Multilingual")).toBeUndefined();
  });

  test("treats vectors of a model that is not in it like those of the default one", () => {
    expect(modelRules("acme/other")).toBe(DEFAULT_MODEL);
    expect(modelRules(undefined)).toBe(DEFAULT_MODEL);
  });
});

describe("a cosine on the scale of the default model", () => {
  test("is itself for that model, to the last bit", () => {
    for (const cosine of [-0.1, 0, 0.1 + 0.2, 0.7299999, 1]) {
      expect(onScale(DEFAULT_MODEL.likeQuestions, cosine)).toBe(cosine);
      expect(onScale(DEFAULT_MODEL.likeMemories, cosine)).toBe(cosine);
    }
  });

  test("is what texts as related have in the default model", () => {
    const { likeMemories, likeQuestions } = modelRules("intfloat/multilingual-e5-small");
    // The means of scripts/quality/cosines.ts: memories about one thing, a question and an unrelated memory.
    expect(onScale(likeMemories, 0.688)).toBeCloseTo(0.817, 2);
    expect(onScale(likeQuestions, 0.025)).toBeCloseTo(0.41, 2);
  });
});
