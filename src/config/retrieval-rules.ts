import { NODE_TYPES } from "../domain/enums.ts";
import type { Complaint } from "./complaint.ts";
import type { Config } from "./schema.ts";
import { DEFAULT_LANGUAGE_MODEL } from "./schema-extraction.ts";
import { IGNORED_PACKING } from "./schema-packing.ts";
import { LEGACY_PRIOR_WEIGHT } from "./schema-retrieval.ts";
import { ADDITIVE_WEIGHTS, DEFAULT_FUSIONS, FUSION_ONLY } from "./schema-scoring.ts";

type Scoring = Config["scoring"];

/** Maximum deviation of the sum of the additive weights from 1. */
const SUM_TOLERANCE = 1e-6;

/** Errors in the combination of retrieval settings. */
export function retrievalComplaints(config: Config): readonly Complaint[] {
  return [
    ...scoringRules("scoring", config.scoring),
    ...Object.entries(config.namespace_weights).flatMap(([name, scoring]) =>
      scoringRules("namespace_weights", scoring, `at ${JSON.stringify(name)}: `),
    ),
    ...packingRules(config),
    ...rerankerRules(config),
    ...languageModelRules(config),
  ];
}

/**
 * Retrieval settings that are accepted but have no effect.
 * @param given the explicitly set settings; defaults give no warning
 */
export function retrievalWarnings(config: Config, given: ReadonlySet<string>): readonly string[] {
  const { scoring } = config;
  const used = scoring.fusion === undefined ? DEFAULT_FUSIONS : [scoring.fusion];
  const unread = Object.entries(FUSION_ONLY).flatMap(([name, fusions]) => {
    const setting = `scoring.${name}`;
    const isRead = used.some((fusion) => fusions.includes(fusion));
    if (isRead || !given.has(setting) || Reflect.get(scoring, name) === undefined) return [];
    return [`${setting} has no effect with scoring.fusion ${used.join(" or ")} and is dropped`];
  });
  const ignored = Object.entries(IGNORED_PACKING).flatMap(([name, value]) =>
    Reflect.get(config.packing, name) === value
      ? []
      : [`packing.${name} is obsolete and has no effect; remove it`],
  );
  return [...unread, ...ignored];
}

function scoringRules(setting: string, scoring: Scoring, where = ""): Complaint[] {
  const complaints: Complaint[] = Object.keys(scoring.node_type_boost)
    .filter((key) => !NODE_TYPES.some((type) => type === key))
    .map((key) => ({
      setting: setting === "scoring" ? "scoring.node_type_boost" : setting,
      reason: `${where}${JSON.stringify(key)} is not one of ${NODE_TYPES.join(", ")}`,
    }));
  const sum = ADDITIVE_WEIGHTS.reduce((total, name) => total + scoring[name], 0);
  if (Math.abs(sum - 1) > SUM_TOLERANCE) {
    const names = `${ADDITIVE_WEIGHTS.slice(0, -1).join(", ")} and ${ADDITIVE_WEIGHTS.at(-1)}`;
    const reason = `${where}${names} sum to ${Number(sum.toFixed(6))}; change them so that they sum to 1`;
    complaints.push({ setting, reason });
  }
  return complaints;
}

function packingRules({ packing }: Config): Complaint[] {
  const complaints: Complaint[] = [];
  if (packing.context_citations && packing.context_format !== "reader") {
    const reason = `needs packing.context_format reader, not ${packing.context_format}; change one of the two`;
    complaints.push({ setting: "packing.context_citations", reason });
  }
  if (packing.evidence_projection_top_k > 0 && packing.evidence_augmentation_top_k > 0) {
    const reason =
      "cannot be combined with packing.evidence_augmentation_top_k; set one of them to 0";
    complaints.push({ setting: "packing.evidence_projection_top_k", reason });
  }
  return complaints;
}

function rerankerRules(config: Config): Complaint[] {
  const { enable_reranker: enabled, reranker_policy: policy } = config;
  const weight = config.reranker_prior_weight;
  if (!enabled || policy !== "legacy" || weight === LEGACY_PRIOR_WEIGHT) return [];
  const reason = `${weight} needs another reranker_policy than legacy, which works with ${LEGACY_PRIOR_WEIGHT}; set reranker_policy to score_envelope, or unset this`;
  return [{ setting: "reranker_prior_weight", reason }];
}

function languageModelRules(config: Config): Complaint[] {
  const { provider, model, api_key: key, base_url: url } = config.extraction;
  const complaints: Complaint[] = [];
  if (url !== undefined && !/^https?:\/\/[^\s/]/i.test(url)) {
    const reason = "is not an address; it must begin with http:// or https://";
    complaints.push({ setting: "extraction.base_url", reason });
  }
  if (!config.enable_query_reformulation) return complaints;
  const setting = "enable_query_reformulation";
  if (provider !== DEFAULT_LANGUAGE_MODEL.provider && model === DEFAULT_LANGUAGE_MODEL.name) {
    const reason = `needs a language model: set extraction.model (SVC_EXTRACTION__MODEL) to a model of ${provider}`;
    complaints.push({ setting, reason });
  } else if (provider !== "ollama" && key === undefined) {
    const reason = `needs a language model: set extraction.api_key (SVC_EXTRACTION__API_KEY) for ${provider}, or extraction.provider to ollama and extraction.model to a model that runs there`;
    complaints.push({ setting, reason });
  }
  return complaints;
}
