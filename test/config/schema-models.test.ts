import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { settingMeta } from "../../src/config/fields.ts";
import {
  ANSWERABILITY,
  ENTAILMENT,
  MODELS,
  modelComplaints,
} from "../../src/config/schema-models.ts";

const answerability = z.strictObject(ANSWERABILITY);
const entailment = z.strictObject(ENTAILMENT);
const models = z.strictObject(MODELS);

describe("the defaults", () => {
  test("turn both checks off", () => {
    expect(answerability.parse({})).toEqual({
      provider: undefined,
      model: undefined,
      api_key: undefined,
      base_url: undefined,
      max_retries: 2,
      timeout: 30,
      temperature: 0,
      reasoning_effort: undefined,
    });
    expect(entailment.parse({})).toEqual({
      model: undefined,
      revision: "main",
      entailment_threshold: 0.8,
      contradiction_threshold: 0.8,
      batch_size: 32,
      max_evidence: 64,
      max_group_size: 2,
      group_candidate_limit: 8,
      entailment_policy: "speech_act_guarded",
      refutation_policy: "explicit_corroboration",
    });
  });

  test("download from the hub, within limits, on one thread", () => {
    expect(models.parse({})).toEqual({
      hub_url: "https://huggingface.co",
      download_timeout: 1800,
      download_stall_timeout: 30,
      threads: 1,
    });
  });
});

test("every setting is described, and the key is a secret", () => {
  const settings = { ...MODELS, ...ANSWERABILITY, ...ENTAILMENT };
  for (const schema of Object.values<z.ZodType>(settings)) {
    expect(settingMeta(schema)?.description.length).toBeGreaterThan(10);
  }
  expect(settingMeta(ANSWERABILITY.api_key)?.isSecret).toBe(true);
});

describe("values from the environment", () => {
  test("are read as text", () => {
    const given = { provider: "OLLAMA", model: "qwen", max_retries: "0", reasoning_effort: "none" };
    expect(answerability.parse(given)).toMatchObject({
      provider: "ollama",
      max_retries: 0,
      reasoning_effort: "none",
    });
    expect(entailment.parse({ entailment_threshold: "0.5", max_group_size: "3" })).toMatchObject({
      entailment_threshold: 0.5,
      max_group_size: 3,
    });
  });

  test("may be an empty key, which is a key", () => {
    expect(answerability.parse({ api_key: "" }).api_key?.reveal()).toBe("");
  });

  test.each(
    [
      { schema: answerability, given: { max_retries: 11 } },
      { schema: answerability, given: { timeout: 0 } },
      { schema: answerability, given: { temperature: 2.1 } },
      { schema: answerability, given: { reasoning_effort: "" } },
      { schema: answerability, given: { provider: "somebody" } },
      { schema: answerability, given: { unknown: 1 } },
      { schema: entailment, given: { entailment_threshold: 0.49 } },
      { schema: entailment, given: { contradiction_threshold: 1.01 } },
      { schema: entailment, given: { batch_size: 0 } },
      { schema: entailment, given: { batch_size: 257 } },
      { schema: entailment, given: { max_evidence: 257 } },
      { schema: entailment, given: { max_group_size: 4 } },
      { schema: entailment, given: { group_candidate_limit: 1 } },
      { schema: entailment, given: { group_candidate_limit: 17 } },
      { schema: entailment, given: { entailment_policy: "none" } },
      { schema: models, given: { threads: 0 } },
      { schema: models, given: { download_stall_timeout: 0 } },
    ].map((row) => ({ ...row, name: JSON.stringify(row.given) })),
  )("are refused: $name", ({ schema, given }) => {
    expect(schema.safeParse(given).success).toBe(false);
  });
});

describe("the rules", () => {
  const complaints = (given: object, hub = {}) =>
    modelComplaints({ models: models.parse(hub), answerability: answerability.parse(given) });

  test.each([
    { name: "nothing", given: {} },
    { name: "provider and model", given: { provider: "ollama", model: "qwen" } },
    {
      name: "an address",
      given: { provider: "openai", model: "m", base_url: "http://127.0.0.1:8080/v1" },
    },
  ])("accept $name", ({ given }) => {
    expect(complaints(given)).toEqual([]);
  });

  test.each([
    {
      name: "a provider without a model",
      given: { provider: "ollama" },
      setting: "answerability.model",
    },
    {
      name: "a model without a provider",
      given: { model: "qwen" },
      setting: "answerability.provider",
    },
    {
      name: "an address without a scheme",
      given: { provider: "ollama", model: "qwen", base_url: "localhost:11434" },
      setting: "answerability.base_url",
    },
  ])("refuse $name", ({ given, setting }) => {
    expect(complaints(given).map((complaint) => complaint.setting)).toEqual([setting]);
  });

  test("refuse a hub that is no address", () => {
    const found = complaints({}, { hub_url: "ftp://host" });
    expect(found.map(({ setting }) => setting)).toEqual(["models.hub_url"]);
  });
});
