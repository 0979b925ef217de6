import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import type { Config, ConfigInput } from "../../src/config/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";

const NOWHERE = "/nonexistent";

type Environment = Readonly<Record<string, string>>;

const load = (environment: Environment = {}, explicit?: ConfigInput) =>
  loadConfig({ environment, folder: NOWHERE, explicit });
const config = (environment?: Environment, explicit?: ConfigInput): Config =>
  load(environment, explicit).config;

function refusal(environment: Environment, explicit?: ConfigInput): SvcError {
  try {
    load(environment, explicit);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

describe("defaults", () => {
  test("stay where the environment names only some settings of a group", () => {
    const { scoring, packing } = config({
      SVC_SCORING__RELEVANCE_FLOOR: "0",
      SVC_PACKING__CONTEXT_CITATIONS: "on",
    });
    expect([scoring.relevance_floor, scoring.fusion, scoring.rrf_recency_boost]).toEqual([
      0,
      "adaptive",
      0.25,
    ]);
    expect([packing.context_citations, packing.context_format, packing.fold_repeated_text]).toEqual(
      [true, "reader", true],
    );
  });
});

describe("values", () => {
  test("optional ones can be unset", () => {
    const { scoring, packing, receipts } = config({
      SVC_SCORING__RRF_K: "none",
      SVC_PACKING__SESSION_CONTEXT_PACKING: "null",
      SVC_PACKING__SESSION_CONTEXT_RANK_FUSION_SCORE_DECAY: "none",
      SVC_RECEIPTS__RETENTION_DAYS: "none",
    });
    expect(scoring.rrf_k).toBeUndefined();
    expect(packing.session_context_packing).toBeUndefined();
    expect(packing.session_context_rank_fusion_score_decay).toBeUndefined();
    expect(receipts.retention_days).toBeUndefined();
  });

  test("a reasoning effort of none is a value, null is none", () => {
    const effort = (text: string) =>
      config({ SVC_EXTRACTION__REASONING_EFFORT: text }).extraction.reasoning_effort;
    expect(effort("none")).toBe("none");
    expect(effort("High")).toBe("high");
    expect(effort("null")).toBeUndefined();
    expect(refusal({ SVC_EXTRACTION__REASONING_EFFORT: "" }).message).toContain(
      "SVC_EXTRACTION__REASONING_EFFORT: expected one of none, low, medium, high, or unset",
    );
  });

  test("negative zero is zero", () => {
    for (const value of [
      config({ SVC_RERANKER_PRIOR_WEIGHT: "-0.0" }).reranker_prior_weight,
      config({}, { reranker_prior_weight: -0 }).reranker_prior_weight,
      config({ SVC_SCORING__RELEVANCE_FLOOR: "-0" }).scoring.relevance_floor,
    ]) {
      expect(Object.is(value, 0)).toBe(true);
    }
  });

  test("languages are lower-case codes, and may be none", () => {
    expect(config({ SVC_TEMPORAL_LANGUAGES: '["EN","de"]' }).temporal_languages).toEqual([
      "en",
      "de",
    ]);
    expect(config({ SVC_TEMPORAL_LANGUAGES: "[]" }).temporal_languages).toEqual([]);
  });
});

describe("refusals name the setting", () => {
  const CASES = (
    [
      ["scoring.fusion", "sum", "one of rrf, weighted, relative, adaptive"],
      ["scoring.rrf_k", 0, "1 to 10000"],
      ["scoring.rrf_k", 10_001, "1 to 10000"],
      ["scoring.rrf_k", 1.5, "integer or unset"],
      ["scoring.rrf_recency_boost", 0, "above 0, at most 4"],
      ["scoring.rrf_recency_boost", 4.1, "above 0, at most 4"],
      ["scoring.rrf_tie_break", "created_at", "only event_time"],
      ["scoring.recency_time", "created_at", "only event_time"],
      ["scoring.relative_semantic_share", 1.1, "0 to 1"],
      ["scoring.adaptive_semantic_share", 1.1, "0 to 1"],
      ["scoring.adaptive_full_coverage", 0, "above 0, at most 1"],
      ["scoring.current_update_multiplier", 0.9, "1 to 2"],
      ["scoring.current_update_multiplier", 2.1, "1 to 2"],
      ["scoring.node_type_boost", { memo: 1 }, '"memo" is not one of'],
      ["scoring.node_type_boost", { fact: -1 }, 'at "fact"'],
      ["scoring.node_type_boost", { fact: Number.NaN }, 'at "fact"'],
      ["packing.token_budget", -1, "0 to 10000000"],
      ["packing.tokenizer", "o200k_base", "only cl100k_base"],
      ["packing.min_fidelity", "short", "one of full"],
      ["packing.context_format", "xml", "one of auditable, compact, reader"],
      ["packing.context_guidance_mode", "on", "one of off, temporal, all"],
      ["packing.multipath_ordering", "best", "one of balanced"],
      ["packing.graph_max_hops", 0, "1 to 3"],
      ["packing.graph_max_hops", 4, "1 to 3"],
      ["packing.graph_max_candidates", -1, "0 to 10000"],
      ["packing.aggregation_k_multiplier", 0.5, "1 to 1000"],
      ["packing.aggregation_k_max", 0, "1 to 4096"],
      ["packing.cross_scope_top_n", -1, "0 to 1000"],
      ["packing.session_context_score_decay", 0, "above 0, at most 1"],
      ["packing.session_context_rank_fusion_score_decay", 1.1, "above 0, at most 1"],
      ["packing.session_context_packing", "near", "trigger_tier, adjacent"],
      ["packing.episode_context_top_k", -1, "0 to 1000"],
      ["packing.episode_context_local_k", 0, "1 to 1000"],
      ["packing.episode_context_score_decay", 0, "above 0, at most 1"],
      ["packing.evidence_projection_max_sources", 0, "1 to 1000"],
      ["packing.evidence_projection_score_decay", 2, "above 0, at most 1"],
      ["packing.evidence_augmentation_max_sources", 0, "1 to 1000"],
      ["packing.evidence_augmentation_score_decay", 0, "above 0"],
      ["packing.evidence_augmentation_anchor_policy", "some", "one of all, non_entity"],
      ["unverified_confidence_threshold", 1.5, "0 to 1"],
      ["query_intent_order", "name_first", "entity_first, temporal_first"],
      ["temporal_languages", ["english"], "two-letter language codes"],
      ["temporal_languages", "en", "JSON list"],
      ["enable_reranker", "maybe", "true or false"],
      ["reranker_model", " ", "not blank"],
      ["reranker_top_k", -1, "0 to 1000"],
      ["reranker_policy", "best", "one of legacy"],
      ["reranker_prior_weight", true, "0 to 1"],
      ["reranker_prior_weight", 1.1, "0 to 1"],
      ["reranker_timeout_ms", 0, "1 to 600000"],
      ["query_reformulation_count", 0, "1 to 5"],
      ["query_reformulation_count", 6, "1 to 5"],
      ["query_reformulation_merge_policy", "all", "new_only, max_signals"],
      ["receipts.retention_days", -1, "0 to 1000000"],
      ["receipts.retention_days", 1.5, "integer or unset"],
      ["extraction.provider", "acme", "one of openai, anthropic, ollama"],
      ["extraction.model", "", "not blank"],
      ["extraction.timeout", 0, "above 0"],
      ["extraction.max_retries", 11, "0 to 10"],
      ["extraction.temperature", 2.5, "0 to 2"],
      ["extraction.base_url", "localhost:11434", "must begin with http"],
    ] satisfies readonly (readonly [setting: string, value: unknown, says: string])[]
  ).map(([setting, value, says]) => ({ setting, value, says }));

  /** A value in code, which may be one that the types forbid. */
  function inCode(setting: string, value: unknown): ConfigInput {
    const [group = "", name] = setting.split(".");
    // SAFETY: what a caller without types may pass.
    return (
      name === undefined ? { [group]: value } : { [group]: { [name]: value } }
    ) as ConfigInput;
  }

  test.each([...CASES])("$setting: $value", ({ setting, value, says }) => {
    const error = refusal({}, inCode(setting, value));
    expect(error.code).toBe("invalid_config");
    expect(error.data["setting"]).toBe(setting);
    expect(error.message).toStartWith(`${setting}: `);
    expect(error.message).toContain(says);
  });

  const NUMBERS = Object.entries({ ...config().scoring, ...config().packing }).flatMap(
    ([name, value]) =>
      typeof value === "number"
        ? [`${name in config().scoring ? "scoring" : "packing"}.${name}`]
        : [],
  );

  test.each(NUMBERS)("%s is a finite number", (setting) => {
    const variable = `SVC_${setting.toUpperCase().replace(".", "__")}`;
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(refusal({}, inCode(setting, value)).message).toStartWith(`${setting}: expected `);
    }
    for (const text of ["NaN", "inf", "1e999"]) {
      expect(refusal({ [variable]: text }).message).toStartWith(`${variable}: expected `);
    }
  });
});

describe("rules across settings", () => {
  test("the six additive weights sum to 1", () => {
    expect(refusal({ SVC_SCORING__W_LEXICAL: "0.2" }).message).toContain(
      "w_semantic, w_lexical, w_graph, w_recency, w_salience and w_confidence sum to 1.05",
    );
    const { scoring } = config({ SVC_SCORING__W_LEXICAL: "0.2", SVC_SCORING__W_SEMANTIC: "0.25" });
    expect([scoring.w_lexical, scoring.w_semantic]).toEqual([0.2, 0.25]);
    expect(config({ SVC_SCORING__W_PATHS: "0.5" }).scoring.w_paths).toBe(0.5);
  });

  test("citations need the reader format", () => {
    const citations = { SVC_PACKING__CONTEXT_CITATIONS: "1" };
    expect(config(citations).packing.context_citations).toBe(true);
    const error = refusal({ ...citations, SVC_PACKING__CONTEXT_FORMAT: "compact" });
    expect(error.message).toBe(
      "SVC_PACKING__CONTEXT_CITATIONS: needs packing.context_format reader, not compact; change one of the two",
    );
  });

  test("projection and augmentation exclude each other", () => {
    const projection = { SVC_PACKING__EVIDENCE_PROJECTION_TOP_K: "3" };
    expect(config(projection).packing.evidence_projection_top_k).toBe(3);
    const both = { ...projection, SVC_PACKING__EVIDENCE_AUGMENTATION_TOP_K: "1" };
    expect(refusal(both).message).toContain("SVC_PACKING__EVIDENCE_PROJECTION_TOP_K: cannot be");
  });

  test("the legacy reranker works with one prior weight", () => {
    const weight = { SVC_RERANKER_PRIOR_WEIGHT: "0.5" };
    expect(config(weight).reranker_prior_weight).toBe(0.5);
    const enabled = { ...weight, SVC_ENABLE_RERANKER: "true" };
    expect(refusal(enabled).message).toStartWith("SVC_RERANKER_PRIOR_WEIGHT: 0.5 needs another");
    const envelope = { ...enabled, SVC_RERANKER_POLICY: "score_envelope" };
    expect(config(envelope).reranker_policy).toBe("score_envelope");
    expect(config({ SVC_ENABLE_RERANKER: "true" }).enable_reranker).toBe(true);
  });

  describe("reformulation needs a language model", () => {
    const enabled = { SVC_ENABLE_QUERY_REFORMULATION: "true" };

    test.each([
      { name: "no key", more: {}, says: "set extraction.api_key (SVC_EXTRACTION__API_KEY)" },
      {
        name: "an address alone",
        more: { SVC_EXTRACTION__BASE_URL: "http://127.0.0.1:1" },
        says: "set extraction.api_key",
      },
      {
        name: "a key of the other provider",
        more: { ANTHROPIC_API_KEY: "hidden" },
        says: "set extraction.api_key",
      },
      {
        name: "a local provider without a model",
        more: { SVC_EXTRACTION__PROVIDER: "ollama" },
        says: "set extraction.model (SVC_EXTRACTION__MODEL) to a model of ollama",
      },
    ])("refuses $name and says what to set", ({ more, says }) => {
      const { message, data } = refusal({ ...enabled, ...more });
      expect(data["setting"]).toBe("enable_query_reformulation");
      expect(message).toStartWith("SVC_ENABLE_QUERY_REFORMULATION: needs a language model");
      expect(message).toContain(says);
      expect(message).not.toContain("hidden");
    });

    test.each([
      { name: "a key", more: { SVC_EXTRACTION_API_KEY: "k" } },
      { name: "a key of the provider's own tools", more: { OPENAI_API_KEY: "k" } },
      {
        name: "a local model",
        more: { SVC_EXTRACTION__PROVIDER: "Ollama", SVC_EXTRACTION__MODEL: "qwen3.5:9b" },
      },
    ])("accepts $name", ({ more }) => {
      expect(config({ ...enabled, ...more }).enable_query_reformulation).toBe(true);
    });
  });
});

describe("the variables of a provider's own tools", () => {
  test("give key and address where ours do not", () => {
    const own = { OPENAI_API_KEY: "theirs", OPENAI_BASE_URL: "https://a.test/v1" };
    const theirs = config(own).extraction;
    expect(theirs.base_url).toBe("https://a.test/v1");
    expect(theirs.api_key?.reveal()).toBe("theirs");
    const both = { ...own, SVC_EXTRACTION__API_KEY: "ours", SVC_EXTRACTION__BASE_URL: "http://b" };
    expect(config(both).extraction.base_url).toBe("http://b");
    expect(config(both).extraction.api_key?.reveal()).toBe("ours");
    expect(config({ ...own, SVC_EXTRACTION__API_KEY: " " }).extraction.api_key?.reveal()).toBe(
      "theirs",
    );
  });

  test("are read for the configured provider only, in their own case", () => {
    const keys = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a" };
    const keyOf = (provider: string) =>
      config({ ...keys, SVC_EXTRACTION__PROVIDER: provider }).extraction.api_key?.reveal();
    expect([keyOf("openai"), keyOf("anthropic"), keyOf("ollama")]).toEqual(["o", "a", undefined]);
    expect(config({ openai_api_key: "o" }).extraction.api_key).toBeUndefined();
  });

  test("come from .env where the environment has none or an empty one", () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-config-"));
    try {
      writeFileSync(join(folder, ".env"), "OPENAI_API_KEY=file\n");
      const key = (environment: Environment) =>
        loadConfig({ environment, folder }).config.extraction.api_key?.reveal();
      expect(key({})).toBe("file");
      expect(key({ OPENAI_API_KEY: "" })).toBe("file");
      expect(key({ OPENAI_API_KEY: "process" })).toBe("process");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("are masked like our own", () => {
    expect(JSON.stringify(config({ OPENAI_API_KEY: "hidden" }))).not.toContain("hidden");
  });
});

describe("warnings", () => {
  const WEIGHTED = { SVC_SCORING__FUSION: "weighted" };
  const RELATIVE = { SVC_SCORING__FUSION: "relative" };

  test.each([
    { name: "the defaults", environment: {}, dropped: [] },
    { name: "weighted fusion alone", environment: WEIGHTED, dropped: [] },
    { name: "relative fusion alone", environment: RELATIVE, dropped: [] },
    {
      name: "settings of adaptive fusion under rank fusion",
      environment: {
        SVC_SCORING__FUSION: "rrf",
        SVC_SCORING__ADAPTIVE_SEMANTIC_SHARE: "0.5",
        SVC_SCORING__ADAPTIVE_FULL_COVERAGE: "0.25",
      },
      dropped: ["scoring.adaptive_semantic_share", "scoring.adaptive_full_coverage"],
    },
    {
      name: "settings of rank fusion under weighted fusion",
      environment: {
        ...WEIGHTED,
        SVC_SCORING__RRF_K: "60",
        SVC_SCORING__RRF_RECENCY_BOOST: "0.5",
        SVC_SCORING__RRF_TIE_BREAK: "none",
        SVC_SCORING__RECENCY_TIME: "event_time",
      },
      dropped: ["scoring.rrf_k", "scoring.rrf_recency_boost"],
    },
    {
      name: "settings of the others under the default",
      environment: {
        SVC_SCORING__RRF_K: "10",
        SVC_SCORING__ADAPTIVE_FULL_COVERAGE: "0.25",
        SVC_SCORING__RECENCY_TIME: "event_time",
        SVC_SCORING__RELATIVE_SEMANTIC_SHARE: "0.5",
      },
      dropped: ["scoring.relative_semantic_share", "scoring.rrf_k", "scoring.recency_time"],
    },
    {
      name: "settings of the others under relative fusion",
      environment: {
        ...RELATIVE,
        SVC_SCORING__RRF_K: "10",
        SVC_SCORING__RRF_RECENCY_BOOST: "0.5",
        SVC_SCORING__RECENCY_TIME: "event_time",
      },
      dropped: ["scoring.rrf_k", "scoring.recency_time"],
    },
  ])("$name: $dropped", ({ environment, dropped }) => {
    const { warnings } = load(environment);
    expect<readonly string[]>(warnings.map((line) => line.split(" ")[0] ?? "")).toEqual(dropped);
    for (const line of warnings) expect(line).toEndWith("is dropped");
  });
});
