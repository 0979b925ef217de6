import { z } from "zod";
import { NODE_TYPES, REPRESENTATION_LEVELS } from "../domain/enums.ts";
import { EPISTEMIC_WEIGHTS } from "../domain/epistemics.ts";
import { DEFAULT_TTL_DAYS } from "../domain/retention.ts";
import {
  decimal,
  flag,
  integer,
  mapIntegerOrNull,
  mapNumber,
  mapOf,
  member,
  optionalDecimal,
  optionalMember,
  optionalName,
  optionalSecret,
  optionalSecretName,
  optionalText,
  text,
  textList,
} from "./fields.ts";

/** The model that is part of the program. */
export const SHIPPED_MODEL = { name: "BAAI/bge-small-en-v1.5", dimension: 384 } as const;

const NONNEGATIVE = { min: 0, max: 1_000_000 } as const;

/** Settings without a group. */
export const ROOT_SETTINGS = {
  pack_path: optionalText(
    "The pack: one file that holds everything. Unset: the directory layout of the next three settings.",
  ),
  db_path: text({
    default: "./memory.db",
    description: "Directory layout: the database file.",
  }),
  vector_path: text({
    default: "./vectors.index",
    description: "Directory layout: the file of the vector index.",
  }),
  lexical_path: text({
    default: "./lexical_index",
    description: "Directory layout: the folder of the text index.",
  }),
  database_url: optionalSecret(
    "Address of a server database. This build has no server-database mode yet and refuses a value.",
  ),
  encryption_enabled: flag({
    default: false,
    description:
      "Encrypt a pack that is created, and open encrypted ones. A pack in clear is never encrypted by opening it.",
  }),
  encryption_key: optionalSecretName(
    "The key of the pack: a passphrase, or `raw_key:` and 32 bytes as URL-safe base64. Used when `encryption_enabled` is on.",
    "",
  ),
  new_encryption_key: optionalSecretName(
    "The key that `svc rekey` gives a pack, in the same forms. Nothing else reads it.",
    "",
  ),
  key_store: member(["auto", "file"], {
    default: "auto",
    description:
      "Where `svc` keeps the keys of packs and looks for them. `auto`: in the system's secret store, and in key files where there is none. `file`: in key files only.",
  }),
  write_queue_size: integer({
    default: 1000,
    min: 1,
    max: 1_000_000,
    description: "Writes that may wait; a further caller waits for room, nothing is dropped.",
  }),
  synchronous: member(["full", "normal"], {
    default: "full",
    description:
      "`full`: an acknowledged write survives a power cut. `normal`: faster; a power cut may undo the last writes, a crash of the program does not.",
  }),
  busy_timeout_ms: integer({
    default: 5000,
    min: 0,
    max: 600_000,
    description: "Milliseconds to wait for another process that is writing to the same pack.",
  }),
  materialization_queue_size: integer({
    default: 500,
    min: 1,
    max: 100_000,
    description: "Admitted events that one processing pass reads at a time.",
  }),
  materialization_budget_ms: integer({
    default: 100,
    min: 0,
    max: 600_000,
    description: "Milliseconds that a retrieve may spend on the owner's pending events first.",
  }),
  epistemic_weights: mapOf(mapNumber({ min: 0 }), {
    default: EPISTEMIC_WEIGHTS,
    bounds: "keys: epistemic types; values at least 0",
    description: "Weight in ranking by kind of knowledge; a kind left out weighs 0.7.",
  }),
  unverified_confidence_threshold: decimal({
    default: 0.3,
    min: 0,
    max: 1,
    description: "Unverified memories whose confidence is below it are left out by default.",
  }),
  confidence_overrides: mapOf(mapNumber({ min: 0, max: 1 }), {
    default: {},
    bounds: "keys `epistemic:source`; values 0 to 1",
    description: 'Replaces initial confidences, for example {"asserted:user_stated":0.9}.',
  }),
};

const EMBEDDING = {
  provider: member(["fastembed", "local"], {
    default: "fastembed",
    description: "Who embeds: the model inside this program. `local` is another name for it.",
  }),
  model_name: text({
    default: SHIPPED_MODEL.name,
    description: "The embedding model. This build accepts only the one that it ships with.",
  }),
  dimension: integer({
    default: SHIPPED_MODEL.dimension,
    min: 1,
    description: "Numbers in a vector; must be the model's.",
  }),
  threads: integer({
    default: 1,
    min: 1,
    max: 256,
    description: "Processor threads of one run of the model.",
  }),
  max_tokens: integer({
    default: 256,
    min: 2,
    max: 512,
    description:
      "Longer texts are cut for their vector only. Another value gives other vectors: a pack keeps the one it began with.",
  }),
};

const API = {
  api_key: optionalSecretName(
    "One bearer key with access to all owners. Excludes `api.user_keys`.",
    "not blank",
  ),
  user_keys: mapOf(z.string(), {
    default: {},
    bounds: "no blank owner or key, no key twice",
    isSecret: true,
    description: 'A bearer key for each owner: {"<user_id>":"<key>"}. Excludes `api.api_key`.',
  }),
  cors_origins: textList("Web origins that may call the API; empty: none."),
  cors_allow_credentials: flag({
    default: false,
    description: "Let listed origins send credentials; ignored with the origin `*`.",
  }),
};

const MCP = {
  user_id: optionalName(
    "Binds `svc mcp` over stdio to one owner. Excludes `mcp.user_keys`.",
    "not blank",
  ),
  user_keys: mapOf(z.string(), {
    default: {},
    bounds: "no blank owner or key, no key twice",
    isSecret: true,
    description: "Keys of owners for network transports; refused with stdio.",
  }),
};

const SCORING = {
  fusion: member(["rrf", "weighted"], {
    default: "rrf",
    description: "How rankings are joined. This build has rank fusion (`rrf`) only.",
  }),
  rrf_k: integer({
    default: 60,
    min: 1,
    max: 10_000,
    description: "Rank fusion: a higher value makes the first ranks count less.",
  }),
  rrf_tie_break: optionalMember(["event_time"], {
    default: "event_time",
    description: "Rank fusion: order of equal scores; `event_time` puts the newest first.",
  }),
  rrf_recency_boost: optionalDecimal({
    default: 0.25,
    above: 0,
    max: 4,
    description: "Part of the scoring version; not used by this build.",
  }),
  node_type_boost: mapOf(mapNumber({ min: 0 }), {
    default: { fact: 1.15, preference: 1.15, decision: 1.15, instruction: 1.15, summary: 1.1 },
    bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 0`,
    description: "Factor on the score by type of memory; a type left out has 1.",
  }),
  w_semantic: scoringOnly(0.3),
  w_lexical: scoringOnly(0.15),
  w_graph: scoringOnly(0.2),
  w_recency: scoringOnly(0.1),
  w_salience: scoringOnly(0.1),
  w_confidence: scoringOnly(0.15),
  w_epistemic: scoringOnly(0.05),
  w_paths: scoringOnly(0),
  recency_lambda: scoringOnly(0.02),
  temporal_boost: scoringOnly(0.15),
  relevance_floor: scoringOnly(0.35),
  current_update_multiplier: decimal({
    default: 1.3,
    min: 1,
    max: 2,
    description: "Part of the scoring version; not used by this build.",
  }),
  recency_time: optionalMember(["event_time"], {
    default: undefined,
    description: "Weighted fusion only; dropped with a warning under rank fusion.",
  }),
};

/** A weight that identifies the scoring settings, though rank fusion does not read it. */
function scoringOnly(value: number) {
  return decimal({
    default: value,
    description:
      "Part of the scoring version; rank fusion does not use it. The six of semantic, lexical, graph, recency, salience and confidence sum to 1.",
  });
}

const PACKING = {
  token_budget: integer({
    default: 4096,
    min: 0,
    max: 10_000_000,
    description: "Tokens of a context when the caller names no budget.",
  }),
  overhead_tokens: integer({
    default: 100,
    ...NONNEGATIVE,
    description: "Tokens of the budget that are left to the caller's own frame.",
  }),
  min_fidelity: member(REPRESENTATION_LEVELS, {
    default: "reference",
    description: "The shortest form in which a memory may enter a context.",
  }),
  multipath_ordering: member(["balanced", "score", "density"], {
    default: "balanced",
    description: "Order in which memories compete for the budget.",
  }),
  vector_k: integer({
    default: 50,
    min: 0,
    max: 4096,
    description: "Candidates of the vector search; 0 turns it off.",
  }),
  lexical_k: integer({
    default: 50,
    min: 0,
    max: 10_000,
    description: "Candidates of the text search; 0 turns it off.",
  }),
  session_context_window: integer({
    default: 3,
    min: 0,
    max: 1000,
    description: "Neighbours on either side that a found turn of a conversation brings; 0: none.",
  }),
  session_context_top_k: integer({
    default: 20,
    min: 0,
    max: 10_000,
    description: "Best candidates that bring their neighbours.",
  }),
  session_context_rank_fusion_score_decay: optionalDecimal({
    default: 0.6,
    above: 0,
    max: 1,
    description: "Share of its trigger's score that a neighbour gets; unset: 0.85.",
  }),
};

const ORGANIZER = {
  default_ttl_days: mapOf(mapIntegerOrNull(NONNEGATIVE), {
    default: defaultTtlDays(),
    bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 0 or null`,
    description: "Days that a new memory of a type is kept; null or left out: for ever.",
  }),
};

function defaultTtlDays(): Readonly<Record<string, number | null>> {
  const kept: Readonly<Record<string, number | null>> = {
    entity: null,
    fact: null,
    preference: null,
  };
  return { ...DEFAULT_TTL_DAYS, ...kept };
}

/** Settings by group. */
export const GROUP_SETTINGS = {
  embedding: EMBEDDING,
  api: API,
  mcp: MCP,
  scoring: SCORING,
  packing: PACKING,
  organizer: ORGANIZER,
};

/** Groups whose settings may also be written with one underscore: `SVC_API_API_KEY`. */
export const SINGLE_UNDERSCORE_GROUPS: readonly string[] = ["embedding", "api", "mcp", "organizer"];

/** Reads a configuration; unknown names are refused. */
export const CONFIG_SCHEMA = z.strictObject({
  ...ROOT_SETTINGS,
  embedding: z.strictObject(EMBEDDING).prefault({}),
  api: z.strictObject(API).prefault({}),
  mcp: z.strictObject(MCP).prefault({}),
  scoring: z.strictObject(SCORING).prefault({}),
  packing: z.strictObject(PACKING).prefault({}),
  organizer: z.strictObject(ORGANIZER).prefault({}),
});

/** Every setting with its value. Names are those of the documentation, in code as in the environment. */
export type Config = z.output<typeof CONFIG_SCHEMA>;

/** The settings that a caller wants to decide; undefined ones are looked up as if they were absent. */
export type ConfigInput = {
  readonly [K in keyof Config]?: K extends keyof typeof GROUP_SETTINGS
    ? { readonly [N in keyof Config[K]]?: Config[K][N] | undefined } | undefined
    : Config[K] | undefined;
};
