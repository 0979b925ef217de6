import { databaseUrlProblem, isWebAddress, withoutPassword } from "../domain/addresses.ts";
import { DEFAULT_MODEL, EMBEDDING_MODELS, findModel } from "../domain/embedding-models.ts";
import { EPISTEMIC_TYPES, NODE_TYPES } from "../domain/enums.ts";
import { type HostedModelChoice, hostedModel, hostedName } from "../domain/hosted-models.ts";
import type { Fusion } from "../domain/scoring.ts";
import type { Secret } from "../lib/secret.ts";
import { nameForm } from "../lib/text.ts";
import { parseUuid } from "../lib/uuid.ts";
import { expandedPath } from "./path.ts";
import {
  ADDITIVE_WEIGHTS,
  type Config,
  DEFAULT_LANGUAGE_MODEL,
  DEFAULT_VISION_MODEL,
  LEGACY_PRIOR_WEIGHT,
} from "./schema.ts";

/** A setting whose value is readable but not acceptable. The reason never holds a secret. */
export type Complaint = { readonly setting: string; readonly reason: string };

function when(isBroken: boolean, setting: string, reason: string): readonly Complaint[] {
  return isBroken ? [{ setting, reason }] : [];
}

/** Errors in a configuration across its settings; empty if it is valid. */
export function checkRules(config: Config): readonly Complaint[] {
  const { namespace_id: id, models } = config;
  return [
    ...databaseRules(config),
    ...when(
      id !== undefined && parseUuid(id) === undefined,
      "namespace_id",
      "is no UUID; unset it or give one",
    ),
    ...embeddingComplaints(config.embedding),
    ...originRules(config),
    ...accessRules(config),
    ...scoringRules(config),
    ...packingRules(config),
    ...rerankerRules(config),
    ...languageModelRules(config),
    ...extractionComplaints(config),
    ...when(
      !isWebAddress(models.hub_url),
      "models.hub_url",
      "is no address of the form https://host",
    ),
    ...visionRules(config),
    ...mapRules(config),
  ];
}

/** Settings that only some fusions read, and which. */
const FUSION_ONLY: Readonly<Record<string, readonly Fusion["kind"][]>> = {
  relative_semantic_share: ["relative"],
  adaptive_semantic_share: ["adaptive"],
  adaptive_full_coverage: ["adaptive"],
  rrf_k: ["rrf"],
  rrf_recency_boost: ["rrf", "relative", "adaptive"],
  rrf_tie_break: ["rrf", "relative", "adaptive"],
  recency_time: ["weighted"],
};

/** Settings made ineffective by another one. @param given the explicitly set settings; defaults give no warning */
export function unreadSettings(config: Config, given: ReadonlySet<string>): readonly string[] {
  const { scoring, embedding } = config;
  const { fusion = "adaptive" } = scoring;
  const unread = Object.entries(FUSION_ONLY).flatMap(([name, fusions]) => {
    const setting = `scoring.${name}`;
    if (fusions.includes(fusion) || !given.has(setting) || Reflect.get(scoring, name) === undefined)
      return [];
    return [`${setting} has no effect with scoring.fusion ${fusion} and is dropped`];
  });
  if (hostedChoice(embedding) !== undefined) return unread;
  const ofProviders = (["api_key", "base_url"] as const)
    .filter((name) => embedding[name] !== undefined)
    .map(
      (name) =>
        `embedding.${name} has no effect: texts are embedded on this machine, unless embedding.provider is openai or ollama`,
    );
  return [...unread, ...ofProviders];
}

function databaseRules(config: Config): readonly Complaint[] {
  const { database_url: url, pack_path: pack } = config;
  if (url === undefined) return [];
  const problem = databaseUrlProblem(url.reveal());
  return [
    ...when(
      pack !== undefined,
      "database_url",
      "cannot be combined with pack_path; unset one of the two",
    ),
    ...when(problem !== undefined, "database_url", problem ?? ""),
    ...when(
      config.encryption_enabled === true,
      "encryption_enabled",
      "encrypts packs, and database_url names a database, whose server encrypts its disk; unset one of the two",
    ),
    ...when(
      Boolean(config.encryption_key?.reveal()),
      "encryption_key",
      "is the key of a pack, and database_url names a database; unset one of the two",
    ),
    ...when(
      config.namespace_id !== undefined,
      "namespace_id",
      "is the identity of a pack, and database_url names a database; unset one of the two",
    ),
  ];
}

type Embedding = Config["embedding"];

/** The chosen model of a provider; undefined for a local model. */
export function hostedChoice(embedding: Embedding): HostedModelChoice | undefined {
  const { provider } = embedding;
  if (provider === "fastembed" || provider === "local") return undefined;
  return {
    provider,
    name: embedding.model_name,
    dimension: embedding.dimension,
    documentPrefix: embedding.document_prefix,
    questionPrefix: embedding.question_prefix,
  };
}

/** Whether a name can identify a local model that is not built in: a folder, or owner/name on the hub. */
function namesOtherModel(name: string): boolean {
  return expandedPath(name) !== name || /^\.{0,2}\/|^[\w.-]+\/[\w.-]+$/.test(name);
}

/** Tokens that the built-in models read. */
const MAX_TOKENS = 512;

export function embeddingComplaints(embedding: Embedding): readonly Complaint[] {
  const hosted = hostedChoice(embedding);
  if (hosted !== undefined) return hostedComplaints(hosted, embedding);
  const { model_name: name, dimension, max_tokens: maxTokens } = embedding;
  const model = name === undefined ? DEFAULT_MODEL : findModel(name);
  if (model === undefined) {
    const known = EMBEDDING_MODELS.map((one) => one.name).join(" or ");
    const reason = `${JSON.stringify(withoutPassword(name ?? ""))} is not part of this build; use ${known}, a folder (/path, ./path) or owner/name of a model on the hub, or unset it`;
    return when(!namesOtherModel(name ?? ""), "embedding.model_name", reason);
  }
  if (dimension !== undefined && dimension !== model.dimension) {
    const reason = `${dimension} does not fit ${model.name}, whose vectors have ${model.dimension} numbers; unset it`;
    return [{ setting: "embedding.dimension", reason }];
  }
  const reason = `${maxTokens} is more than the ${MAX_TOKENS} that ${model.name} reads; lower it`;
  return when(maxTokens > MAX_TOKENS, "embedding.max_tokens", reason);
}

function hostedComplaints(
  choice: HostedModelChoice,
  { base_url: url }: Embedding,
): readonly Complaint[] {
  const name = hostedName(choice);
  return [
    ...when(
      name === undefined,
      "embedding.model_name",
      `is missing; name a model of ${choice.provider}, such as nomic-embed-text`,
    ),
    ...when(
      name !== undefined && hostedModel(choice) === undefined,
      "embedding.dimension",
      `is missing; how many numbers the vectors of ${JSON.stringify(withoutPassword(name ?? ""))} have is not known, so set it`,
    ),
    ...when(
      url !== undefined && !(/^https?:\/\/[^\s/]/i.test(url) && URL.canParse(url)),
      "embedding.base_url",
      "is not an address; it must begin with http:// or https://",
    ),
  ];
}

/** Origins that no browser sends in this form, so that they would silently match nothing. */
function originRules({ api }: Config): readonly Complaint[] {
  return api.cors_origins.flatMap((origin) => {
    const sent = originOf(origin);
    const instead =
      sent === undefined ? 'for example "http://localhost:3000"' : JSON.stringify(sent);
    const reason = `${JSON.stringify(withoutPassword(origin))} is no origin, so no page would match it; write ${instead}`;
    return when(sent !== origin, "api.cors_origins", reason);
  });
}

/** How a browser writes an origin; undefined if a text contains none. Schemes of other programs have their own rules. */
function originOf(text: string): string | undefined {
  if (text === "*" || text === "null") return text;
  if (!/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text)) return undefined;
  if (!/^https?:/i.test(text)) return text;
  return URL.parse(text)?.origin;
}

function accessRules({ api, mcp }: Config): readonly Complaint[] {
  const others = [api.api_key, ...Object.values(api.user_keys), ...Object.values(mcp.user_keys)];
  const own = api.metrics_key?.reveal().trim();
  return [
    ...(["api_key", "metrics_key"] as const).flatMap((name) =>
      when(
        api[name]?.reveal().trim() === "",
        `api.${name}`,
        "is blank, and would match nothing; unset it or give it a key",
      ),
    ),
    ...when(
      own !== undefined && others.some((key) => key?.reveal().trim() === own),
      "api.metrics_key",
      "is also a key that opens memories, and it is to open nothing but numbers; give it a key of its own",
    ),
    ...when(
      api.api_key !== undefined && Object.keys(api.user_keys).length > 0,
      "api.api_key",
      "cannot be combined with api.user_keys; unset one of the two",
    ),
    ...when(mcp.user_id?.trim() === "", "mcp.user_id", "is blank; unset it or name an owner"),
    ...when(
      mcp.user_id !== undefined && Object.keys(mcp.user_keys).length > 0,
      "mcp.user_id",
      "cannot be combined with mcp.user_keys; unset one of the two",
    ),
    ...keyRules("api.user_keys", api.user_keys),
    ...keyRules("mcp.user_keys", mcp.user_keys),
  ];
}

function keyRules(setting: string, keys: Readonly<Record<string, Secret>>): readonly Complaint[] {
  const owners = Object.keys(keys);
  const texts = Object.values(keys).map((key) => key.reveal());
  const keyless = owners.find((owner) => keys[owner]?.reveal().trim() === "");
  return [
    ...when(
      owners.some((owner) => owner.trim() === ""),
      setting,
      "names a blank owner; give every owner a name",
    ),
    ...when(
      keyless !== undefined,
      setting,
      `has a blank key for ${JSON.stringify(keyless)}; give every owner a key`,
    ),
    ...when(
      new Set(owners.map(nameForm)).size < owners.length,
      setting,
      "has two names that are one owner (NFC, without blanks at the ends); keep one of them",
    ),
    ...when(
      new Set(texts).size < texts.length,
      setting,
      "has one key for two owners; give every owner its own key",
    ),
  ];
}

/** Maximum deviation of the sum of the additive weights from 1. */
const SUM_TOLERANCE = 1e-6;

function scoringRules({ scoring }: Config): readonly Complaint[] {
  const sum = ADDITIVE_WEIGHTS.reduce((total, name) => total + scoring[name], 0);
  const names = `${ADDITIVE_WEIGHTS.slice(0, -1).join(", ")} and ${ADDITIVE_WEIGHTS.at(-1)}`;
  return [
    ...keysWithin("scoring.node_type_boost", scoring.node_type_boost, NODE_TYPES),
    ...when(
      Math.abs(sum - 1) > SUM_TOLERANCE,
      "scoring",
      `${names} sum to ${Number(sum.toFixed(6))}; change them so that they sum to 1`,
    ),
  ];
}

function packingRules({ packing }: Config): readonly Complaint[] {
  return [
    ...when(
      packing.context_citations && packing.context_format !== "reader",
      "packing.context_citations",
      `needs packing.context_format reader, not ${packing.context_format}; change one of the two`,
    ),
    ...when(
      packing.evidence_projection_top_k > 0 && packing.evidence_augmentation_top_k > 0,
      "packing.evidence_projection_top_k",
      "cannot be combined with packing.evidence_augmentation_top_k; set one of them to 0",
    ),
  ];
}

function rerankerRules(config: Config): readonly Complaint[] {
  const { enable_reranker: enabled, reranker_prior_weight: weight } = config;
  const isLegacy = enabled && config.reranker_policy === "legacy";
  const reason = `${weight} needs another reranker_policy than legacy, which works with ${LEGACY_PRIOR_WEIGHT}; set reranker_policy to score_envelope, or unset this`;
  return when(isLegacy && weight !== LEGACY_PRIOR_WEIGHT, "reranker_prior_weight", reason);
}

function languageModelRules(config: Config): readonly Complaint[] {
  const { provider, model, api_key: key, base_url: url } = config.extraction;
  const isOn = config.enable_query_reformulation;
  const isOther =
    provider !== DEFAULT_LANGUAGE_MODEL.provider && model === DEFAULT_LANGUAGE_MODEL.name;
  return [
    ...when(
      url !== undefined && !/^https?:\/\/[^\s/]/i.test(url),
      "extraction.base_url",
      "is not an address; it must begin with http:// or https://",
    ),
    ...when(
      isOn && isOther,
      "enable_query_reformulation",
      `needs a language model: set extraction.model (SVC_EXTRACTION__MODEL) to a model of ${provider}`,
    ),
    ...when(
      isOn && !isOther && provider !== "ollama" && key === undefined,
      "enable_query_reformulation",
      `needs a language model: set extraction.api_key (SVC_EXTRACTION__API_KEY) for ${provider}, or extraction.provider to ollama and extraction.model to a model that runs there`,
    ),
  ];
}

const BATCH_TARGET_TOKENS = 2048;

type MessageSettings = Omit<Config, "extraction">;

/** Tokens of messages that are sent together; 0: each is sent alone. */
export function batchTargetTokens(config: MessageSettings): number {
  const whenUnset = sendsAlone(config) === undefined ? BATCH_TARGET_TOKENS : 0;
  return config.extraction_batch_target_tokens ?? whenUnset;
}

export function extractionComplaints(config: MessageSettings): readonly Complaint[] {
  const alone = sendsAlone(config);
  const isBatched = batchTargetTokens(config) > 0;
  const remedy =
    alone === undefined ? "set extraction_batch_target_tokens above 0" : `turn ${alone} off`;
  return [
    ...when(
      alone !== undefined && isBatched,
      "extraction_batch_target_tokens",
      `cannot be combined with ${alone}, which sends each message alone; unset one of the two, or set this to 0`,
    ),
    ...when(
      config.enable_extraction_corrections && !isBatched,
      "enable_extraction_corrections",
      `needs messages that are sent together: ${remedy}`,
    ),
  ];
}

/** The setting that makes each message be sent alone. */
function sendsAlone(config: MessageSettings): keyof Config | undefined {
  const hasWindow = config.enable_windowed_extraction && config.extraction_window_turns > 0;
  return hasWindow ? "enable_windowed_extraction" : undefined;
}

function visionRules({ vision }: Config): readonly Complaint[] {
  const { provider, model, base_url: url } = vision;
  const preset = DEFAULT_VISION_MODEL;
  if (!vision.enabled) return [];
  return [
    ...when(
      provider !== preset.provider && model === preset.name,
      "vision.model",
      `is a model of ${preset.provider}; set it (SVC_VISION__MODEL) to a model of ${provider} that reads pictures`,
    ),
    ...when(
      url !== undefined && !isWebAddress(url),
      "vision.base_url",
      "is no address of the form http://host or https://host",
    ),
  ];
}

function mapRules(config: Config): readonly Complaint[] {
  const { organizer, receipts } = config;
  const { retention_days: kept } = receipts;
  // Receipts record that a memory was used.
  const longest = Math.max(0, ...Object.values(organizer.fade_after_days));
  return [
    ...keysWithin("epistemic_weights", config.epistemic_weights, EPISTEMIC_TYPES),
    ...keysWithin("organizer.default_ttl_days", organizer.default_ttl_days, NODE_TYPES),
    ...keysWithin("organizer.fade_after_days", organizer.fade_after_days, NODE_TYPES),
    ...when(
      kept !== undefined && longest > kept,
      "organizer.fade_after_days",
      `is ${longest} days, and receipts, which tell that a memory was used, are kept for ${kept}; raise receipts.retention_days`,
    ),
    ...Object.keys(config.confidence_overrides).flatMap((key) =>
      when(
        !/^[^:]+:[^:]+$/.test(key),
        "confidence_overrides",
        `${JSON.stringify(key)} is not of the form epistemic:source, such as asserted:user_stated`,
      ),
    ),
  ];
}

function keysWithin(
  setting: string,
  map: Readonly<Record<string, unknown>>,
  known: readonly string[],
): readonly Complaint[] {
  const all = known.join(", ");
  return Object.keys(map).flatMap((key) =>
    when(!known.includes(key), setting, `${JSON.stringify(key)} is not one of ${all}`),
  );
}
