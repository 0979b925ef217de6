import { expect, test } from "bun:test";
import { auditConfig } from "../../src/config/audit.ts";
import { loadConfig } from "../../src/config/load.ts";

function audited(environment: Readonly<Record<string, string>> = {}) {
  const { config } = loadConfig({ environment, file: null });
  return new Map(auditConfig(config).map((setting) => [setting.path, setting]));
}

test("with the defaults nothing is customized, and what is switched off is dormant", () => {
  const settings = audited();
  const effective = [...settings.values()].filter((one) => one.effective).map(({ path }) => path);

  expect([...settings.values()].filter(({ customized }) => customized)).toEqual([]);
  expect(effective).toContain("packing.fold_repeated_text");
  expect(effective).toContain("organizer.dedup_similarity_threshold");
  expect(effective).toContain("scoring.adaptive_semantic_share");
  for (const dormant of [
    "enable_qa_pairing",
    "scoring.rrf_k",
    "query_reformulation_count",
    "packing.evidence_projection_score_decay",
  ]) {
    expect([dormant, settings.get(dormant)?.effective]).toEqual([dormant, false]);
  }
});

test.each([
  ["scoring.rrf_k", { SVC_SCORING__FUSION: "rrf" }],
  ["enable_qa_pairing", { SVC_ENABLE_QA_PAIRING: "true" }],
  ["packing.evidence_projection_max_sources", { SVC_PACKING__EVIDENCE_PROJECTION_TOP_K: "2" }],
])("%s takes effect once its switch is on", (path, environment) => {
  expect(audited(environment).get(path)?.effective).toBe(true);
});

test.each([
  ["packing.fold_repeated_text", { SVC_PACKING__CONTEXT_FORMAT: "compact" }],
  ["packing.session_context_packing", { SVC_PACKING__SESSION_CONTEXT_WINDOW: "0" }],
  ["scoring.adaptive_full_coverage", { SVC_SCORING__FUSION: "weighted" }],
])("%s is dormant once its switch is off", (path, environment) => {
  expect(audited(environment).get(path)?.effective).toBe(false);
});
