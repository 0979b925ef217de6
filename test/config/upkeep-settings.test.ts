import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { SvcError } from "../../src/domain/errors.ts";

type Environment = Readonly<Record<string, string>>;

const config = (environment: Environment = {}) =>
  loadConfig({ environment, folder: "/nonexistent" }).config;

function refused(environment: Environment): unknown {
  try {
    config(environment);
  } catch (error) {
    if (error instanceof SvcError) return error.message;
    throw error;
  }
  return undefined;
}

describe("what follows a store", () => {
  test("may be unset, and written with one underscore in the group", () => {
    expect(config({ SVC_REINFORCE_SIMILARITY_THRESHOLD: "0.9" })).toMatchObject({
      reinforce_similarity_threshold: 0.9,
    });
    expect(config({ SVC_REINFORCE_SIMILARITY_THRESHOLD: "null" })).toMatchObject({
      reinforce_similarity_threshold: undefined,
    });
    expect(config({ SVC_ORGANIZER_OPPORTUNISTIC_ENABLED: "off" }).organizer).toMatchObject({
      opportunistic_enabled: false,
    });
  });

  test.each([
    ["SVC_REINFORCE_SIMILARITY_THRESHOLD", "1.5"],
    ["SVC_ENABLE_QA_PAIRING", "perhaps"],
    ["SVC_ORGANIZER__PROMOTION_AGE_DAYS", "-1"],
    ["SVC_ORGANIZER__CONSOLIDATION_MIN_CLUSTER_SIZE", "1"],
    ["SVC_ORGANIZER__DEDUP_SIMILARITY_THRESHOLD", "1.1"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_BATCH_SIZE", "0"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_COOLDOWN", "-1"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_BUDGET_MS", "0.5"],
  ])("refuses %s=%s by name", (name, value) => {
    expect(refused({ [name]: value })).toContain(`${name}: expected`);
  });
});

function load(environment: Readonly<Record<string, string>> = {}) {
  return loadConfig({ environment, file: null });
}

const vision = (environment: Readonly<Record<string, string>>) => load(environment).config.vision;

function refusal(environment: Readonly<Record<string, string>>): SvcError {
  try {
    load(environment);
  } catch (error) {
    if (error instanceof SvcError) return error;
  }
  throw new Error("nothing was refused");
}

const ON = { SVC_VISION__ENABLED: "true" };

test("reads every form of a variable, version 2 of the prompt as text included", () => {
  const read = vision({
    SVC_VISION_ENABLED: "on",
    SVC_VISION_DESCRIBE_PROMPT_VERSION: "2",
    SVC_VISION__EXTRACTION_RETRY_DELAYS: "[0, 0.5]",
    SVC_VISION: '{"fps": 2}',
  });
  expect(read).toMatchObject({
    enabled: true,
    describe_prompt_version: 2,
    extraction_retry_delays: [0, 0.5],
    fps: 2,
  });
  expect(vision({ SVC_VISION__EXTRACTION_RETRY_DELAYS: "[]" }).extraction_retry_delays).toEqual([]);
});

test.each([
  ["SVC_VISION__DESCRIBE_PROMPT_VERSION", "1"],
  ["SVC_VISION__DESCRIBE_PROMPT_VERSION", "3"],
  ["SVC_VISION__PROVIDER", "moondream"],
  ["SVC_VISION__MODEL", " "],
  ["SVC_VISION__TIMEOUT", "0"],
  ["SVC_VISION__FPS", "0"],
  ["SVC_VISION__FPS", "inf"],
  ["SVC_VISION__FRAME_WIDTH", "63"],
  ["SVC_VISION__CHANGE_THRESHOLD", "-0.1"],
  ["SVC_VISION__MAX_GAP_SECONDS", "0"],
  ["SVC_VISION__REPEAT_SIMILARITY", "1.1"],
  ["SVC_VISION__THUMBNAIL_WIDTH", "15"],
  ["SVC_VISION__EXTRACTION_RETRY_DELAYS", "[5, -1]"],
  ["SVC_VISION__EXTRACTION_RETRY_DELAYS", "5"],
])("refuses %s=%s by its name", (name, value) => {
  expect(refusal({ [name]: value }).message).toContain(name);
});

describe("once it is on", () => {
  test("a hosted provider needs a model of its own", () => {
    const error = refusal({ ...ON, SVC_VISION__PROVIDER: "openai" });
    expect(error.message).toContain("set it (SVC_VISION__MODEL) to a model of openai");
    expect(load({ SVC_VISION__PROVIDER: "openai" }).config.vision.provider).toBe("openai");
  });

  test("an address has to be one of the web", () => {
    expect(refusal({ ...ON, SVC_VISION__BASE_URL: "ftp://x" }).message).toContain("http://host");
  });

  test.each([
    ["box", "http://box:11434"],
    ["box:8080", "http://box:8080"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:9", "http://127.0.0.1:9"],
    ["http://box:1/", "http://box:1"],
    ["https://box.example", "https://box.example"],
  ])("takes the server from OLLAMA_HOST=%s", (host, address) => {
    expect(vision({ ...ON, OLLAMA_HOST: host }).base_url).toBe(address);
  });

  test("prefers its own address, and asks only for the variables of its provider", () => {
    const own = { ...ON, OLLAMA_HOST: "box", SVC_VISION__BASE_URL: "http://mine:1" };
    expect(vision(own).base_url).toBe("http://mine:1");
    const hosted = {
      ...ON,
      SVC_VISION__PROVIDER: "anthropic",
      SVC_VISION__MODEL: "m",
      ANTHROPIC_API_KEY: "k",
      OPENAI_API_KEY: "no",
      OLLAMA_HOST: "no",
    };
    const { api_key: key, base_url: url } = vision(hosted);
    expect([key?.reveal(), url]).toEqual(["k", undefined]);
  });

  test("OLLAMA_HOST is nothing to extraction, nor to a vision that is off", () => {
    const { config } = load({ SVC_EXTRACTION__PROVIDER: "ollama", OLLAMA_HOST: "box" });
    expect([config.extraction.base_url, config.vision.base_url]).toEqual([undefined, undefined]);
  });
});
