import { z } from "zod";
import { DEFAULT_MODEL, EMBEDDING_MODELS } from "../domain/embedding-models.ts";
import { NODE_TYPES, REPRESENTATION_LEVELS } from "../domain/enums.ts";
import { EPISTEMIC_WEIGHTS } from "../domain/epistemics.ts";
import { FADING_PROFILES } from "../domain/fading.ts";
import { BLOB_LIMIT_BYTES } from "../domain/node.ts";
import { RECEIPT_DETAILS } from "../domain/records/receipt.ts";
import {
  ANCHOR_POLICIES,
  CONTEXT_FORMATS,
  GUIDANCE_MODES,
  MULTIPATH_ORDERINGS,
  SESSION_PACKINGS,
} from "../domain/records/retrieval-record.ts";
import {
  DEFAULT_FULL_COVERAGE,
  DEFAULT_RRF_K,
  DEFAULT_SCORING,
  DEFAULT_SEMANTIC_SHARE,
  MAX_WEIGHT,
} from "../domain/scoring.ts";
import type { Secret } from "../lib/secret.ts";
import {
  decimal,
  flag,
  integer,
  listOf,
  META,
  mapInteger,
  mapIntegerOrNull,
  mapNumber,
  mapOf,
  member,
  numberList,
  optionalDecimal,
  optionalFlag,
  optionalInteger,
  optionalMember,
  optionalMemberOrNone,
  optionalName,
  optionalPath,
  optionalSecret,
  optionalSecretName,
  optionalText,
  path,
  type SettingMeta,
  secret,
  text,
  textList,
} from "./fields.ts";

const SHARE = { min: 0, max: 1 } as const;
/** A share above nothing. */
const PART = { above: 0, max: 1 } as const;
const COUNT = { min: 1, max: 1_000_000 } as const;
const DAYS = { min: 0, max: 1_000_000 } as const;
const GROUPS = { min: 0, max: 1000 } as const;
const MEMBERS = { min: 1, max: 1000 } as const;

/** A host name, an IPv4 address, or an IPv6 address in brackets; neither scheme nor port. */
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)$/;

/** Each is a model of the default provider. */
export const DEFAULT_LANGUAGE_MODEL = { provider: "openai", name: "gpt-4o-mini" } as const;
export const DEFAULT_VISION_MODEL = { provider: "ollama", name: "qwen3.5:9b" } as const;

/** The share of the previous score required by the reranker policy `legacy`. */
export const LEGACY_PRIOR_WEIGHT = 0.3;

/**
 * Names without effect: of earlier versions, of planned parts, and of other programs with the same names. They are accepted with a warning,
 * whatever their value.
 */
// biome-ignore format: a line for each kind
export const NO_EFFECT: ReadonlySet<string> = new Set([
  "vector_save_interval", "lexical_commit_interval", "lexical_commit_max_delay_s", "vector_exact_search",
  "novelty_high_threshold", "novelty_low_threshold", "novelty_salience_boost", "novelty_salience_penalty", "enable_surprise_gating",
  "packing.chars_per_token", "packing.cross_scope_token_budget", "namespace_weights", "temporal_relation",
  "organizer.alias_similarity_threshold", "enable_fact_text_resolution",
]);

/** Settings without a group. */
// biome-ignore format: a row for each setting
export const ROOT_SETTINGS = {
  pack_path: optionalPath("The pack: one file that holds everything, or the folder of a directory pack. Unset: the directory layout of the next three settings. In this path and the next ones `~` or `$HOME` at the start is the home folder."),
  db_path: path("./memory.db", "Directory layout: the database file."),
  vector_path: path("./vectors.index", "Directory layout: the file of the vector index."),
  lexical_path: path("./lexical_index", "Directory layout: the folder of the text index."),
  database_url: optionalSecret("Address of a PostgreSQL database with pgvector that holds the memories in place of a pack: `postgres://user:password@host/database`. Excludes `pack_path` and `encryption_enabled`."),
  database_pool_size: integer({ default: 10, min: 1, max: 1000 }, "Connections to the database at most, of one process."),
  database_partitions: optionalInteger({ default: undefined, min: 2, max: 32 }, "Partitions of each table of a new database, by hash of the owner. They stay as they are made: a database with another number is refused. Unset: none, or as the database has them."),
  database_prepare: optionalFlag("Prepare statements once per connection, which takes about two thirds of the time. Unset: if the connection is direct. Behind a pooler that passes transactions on, answers could be those of other statements."),
  database_row_security: optionalFlag("Whether the server of the database itself hides what the owner of a call does not own (row-level security), as a second wall behind the one that every statement has. True builds it and false takes it away, as the owner of the tables; unset: as the database has it."),
  database_timeout_ms: integer({ default: 30_000, min: 100, max: 3_600_000 }, "Milliseconds that one statement may take before the server ends it. A server that has not answered a second after that is taken for unreachable."),
  encryption_enabled: optionalFlag("Whether `encryption_key` is used, to open an encrypted pack and to encrypt one that is made. Opening never encrypts an unencrypted pack. Unset: a program that embeds the engine makes unencrypted packs, and `svc` makes encrypted ones, with a key that it keeps."),
  encryption_key: optionalSecretName("The key of the pack: a passphrase, or `raw_key:` and 32 bytes as URL-safe base64. Used when `encryption_enabled` is on.", ""),
  new_encryption_key: optionalSecretName("The key that `svc rekey` gives a pack, in the same forms. Nothing else reads it.", ""),
  key_store: member(["auto", "file"], "auto", "Where `svc` keeps the keys of packs and looks for them. `auto`: in the system's secret store, and in key files where there is none. `file`: in key files only."),
  log_format: member(["text", "json"], "text", "Form of the log of servers on standard error. `json`: one object a line, with `time`, `level`, `message` and what else is known."),
  namespace_id: optionalText("The identity of the pack: a UUID. A new pack gets it; one with another or none is refused."),
  write_queue_size: integer({ default: 1000, min: 1, max: 1_000_000 }, "Writes that may wait; further callers wait for room, nothing is dropped."),
  synchronous: member(["full", "normal"], "full", "`full`: an acknowledged write survives a power cut. `normal`: faster; a power cut may undo the last writes, a crash of the program does not."),
  vector_memory_mb: integer({ default: 256, min: 8, max: 65_536 }, "Mebibytes of memory for the vectors of a pack's owners: those who asked last keep theirs, and one of several gets half at most. A search reads from the pack what does not fit, and takes longer by its share. A million vectors of 384 numbers take 100."),
  vector_exact_max: integer({ default: 20_000, min: 0, max: 10_000_000 }, "Vectors of an owner up to which a search never misses one, at 570 bytes of memory each (of 384 numbers). With more of them it first compares two bits of each number, then the most likely exactly: of the nearest 50 of a complete search at least 99.5 % are found (measured: 99.9 %)."),
  busy_timeout_ms: integer({ default: 5000, min: 0, max: 600_000 }, "Milliseconds to wait for another process that is writing to the same pack."),
  materialization_queue_size: integer({ default: 500, min: 1, max: 100_000 }, "Admitted events that one processing pass reads at a time."),
  materialization_budget_ms: integer({ default: 100, min: 0, max: 600_000 }, "Milliseconds that a retrieve may spend on the owner's pending events first; a command of the command line takes 2000 at least."),
  blob_max_bytes: integer({ default: 1_048_576, min: 1024, max: BLOB_LIMIT_BYTES }, "Bytes of a picture that is kept with an event; a larger one is refused, also by `svc import`."),
  // Steps after a store. A failed step is reported and does not fail the store.
  enable_store_supersedence: flag(false, "Retire what a new memory says was given up (`switched from X to`, `replaced X with`): similar memories of its scope that name it and are about the same people. Memories that keep replacing each other lose confidence."),
  reinforce_similarity_threshold: optionalDecimal({ default: undefined, ...SHARE }, "Cosine from which a new memory reinforces those that it resembles, among its 5 nearest and in its scope. Unset: never. Repeated instructions are always reinforced."),
  enable_qa_pairing: flag(false, "Store an additional memory that joins a turn of a session with the previous one, if they are by different speakers."),
  // Processing of ingested messages, once extraction is on.
  extraction_batch_target_tokens: optionalInteger({ default: undefined, min: 0, max: 65_536 }, "Tokens of messages of one session that are sent to the model together; 0 sends each alone, as soon as it is ingested. Unset: 2048."),
  max_concurrent_extractions: integer({ default: 8, min: 1, max: 256 }, "Requests to the model at a time. One owner and scope has at most one."),
  enable_claim_merge: flag(true, "Let the same claim in several messages be one memory, with all of them as evidence."),
  enable_speaker_references: flag(true, "Take `I` and `my` in a message with a `speaker` for that person."),
  enable_claim_sentence_text: flag(true, "Let the text of a claim be the sentences that state it. Off: their whole paragraph."),
  enable_speaker_grounding: flag(false, "Believe a claim about the speaker by name where the message says `I`."),
  // How a single message is read, and what messages may correct.
  enable_windowed_extraction: flag(false, "Show the model earlier messages of the session with each message, which is then sent alone. They only help to read it."),
  extraction_window_turns: integer({ default: 4, min: 0, max: 32 }, "Earlier messages that are shown (`enable_windowed_extraction`)."),
  enable_extraction_corrections: flag(false, "Show the model earlier memories near each message, and let the message replace those it says are no longer true. Needs messages that are sent together."),
  // Retrieval.
  epistemic_weights: mapOf(mapNumber({ min: 0 }), { default: EPISTEMIC_WEIGHTS, bounds: "keys: epistemic types; values at least 0" }, "Weight in ranking by kind of knowledge; 0.7 for kinds that are left out."),
  unverified_confidence_threshold: decimal({ default: 0.3, min: 0, max: 1 }, "Unverified memories with less confidence are left out by default."),
  query_intent_order: member(["entity_first", "temporal_first"], "entity_first", "How a question about both a name and a time is classified."),
  newer_first: flag(true, "Put a memory before an older one that it makes outdated, and mark the older one as `older than` it."),
  temporal_languages: listOf(z.string().trim().toLowerCase().regex(/^[a-z]{2}$/), { default: ["en"], bounds: "two-letter language codes" }, "Languages in which dates in questions are read, besides the question's own; empty: all supported ones."),
  enable_reranker: flag(false, "Let a local model read the best candidates again, together with the question."),
  reranker_model: text("cross-encoder/ms-marco-MiniLM-L-6-v2", "The model that reads them."),
  reranker_top_k: integer({ default: 100, min: 0, max: 1000 }, "Best candidates that it reads; 0 changes nothing."),
  reranker_policy: member(["legacy", "score_envelope", "anchored_score_envelope"], "legacy", "`legacy`: its scores are blended in. `score_envelope`: it decides the order, the set of scores stays the same. `anchored_score_envelope`: the same, with the previously best candidate first."),
  reranker_prior_weight: decimal({ default: LEGACY_PRIOR_WEIGHT, min: 0, max: 1 }, "Share of the previous score in the new one. With the reranker on and the policy `legacy` it must be 0.3."),
  reranker_timeout_ms: integer({ default: 10_000, min: 1, max: 600_000 }, "Milliseconds after which the previous order stays and the answer says so."),
  enable_query_reformulation: flag(false, "Let a language model reword the question and search for those wordings too. Needs the model of the group `extraction`."),
  query_reformulation_count: integer({ default: 2, min: 1, max: 5 }, "Number of other wordings to request."),
  query_reformulation_merge_policy: member(["new_only", "max_signals"], "new_only", "`new_only`: other wordings add candidates. `max_signals`: they also raise the signals of candidates found already."),
  confidence_overrides: mapOf(mapNumber({ min: 0, max: 1 }), { default: {}, bounds: "keys `epistemic:source`; values 0 to 1" }, 'Replaces initial confidences, for example {"asserted:user_stated":0.9}.'),
};

const MODEL_NAMES = EMBEDDING_MODELS.map(
  ({ name, alias, languages }) => `\`${name}\` (${languages}; or \`${alias}\`)`,
).join(", ");

/** The embedding model. By default nothing leaves the machine. */
// biome-ignore format: a row for each setting
const EMBEDDING = {
  provider: member(["fastembed", "local", "openai", "ollama"], "fastembed", "Who embeds texts. `fastembed`, or `local`: this program, on this machine. `openai`: OpenAI or any server with its protocol (`embedding.base_url`); `ollama`: an Ollama server. With these two, every memory and every question is sent to that server. It decides for new packs and for `svc rebuild`; a pack of their models is searched by words until the settings name its provider and model."),
  model_name: optionalText(`The embedding model of new packs and of \`svc rebuild\`: ${MODEL_NAMES}; another local ONNX model, as a folder (\`/path\`, \`./path\`, \`~/path\`) or by its name on the hub; or the provider's name for a model. A pack keeps its model until it is rebuilt with another one. Unset: \`${DEFAULT_MODEL.name}\`, or on the command line, where the language of the system is not English, the first model that reads others; for \`openai\`: \`text-embedding-3-small\`.`),
  dimension: optionalInteger({ default: undefined, min: 1, max: 8192 }, "Numbers in a vector. Unset: the model's, if it is known. A smaller one than a model of `text-embedding-3` has is asked of the provider; otherwise it must be the model's."),
  api_key: optionalSecret("Key of the provider. Unset: for `openai` `OPENAI_API_KEY`, from the environment, then `.env`."),
  base_url: optionalText("Address of the provider, http or https. Unset: for `openai` `OPENAI_BASE_URL`, from the environment, then `.env`, else its own; for `ollama` port 11434 of this machine."),
  timeout: decimal({ default: 20, above: 0, max: 3600 }, "Seconds for one answer of a provider, retries included. A question waits at most 10 of them; then it is answered by words."),
  document_prefix: optionalText("Precedes every memory that is embedded, for models that need it. Unset: what is known of the model, or what its files say."),
  question_prefix: optionalText("The same for questions."),
  pooling: optionalMember(["cls", "mean", "last"], undefined, "How the vector of another local model is made of those of its tokens: the first one, the mean or the last one. Unset: as its files say."),
  revision: text("main", "Branch, tag or commit of another local model on the hub."),
  threads: integer({ default: 1, min: 1, max: 256 }, "Processor threads for one run of a local model."),
  bulk_threads: optionalInteger({ default: undefined, min: 1, max: 256 }, "Threads that embed a long backlog: imports, rebuilds, what was admitted and not indexed. Calls and other programs come first, and all threads share one model. Unset: all cores but one, of two cores both, at most 8; on battery one."),
  max_tokens: integer({ default: 256, min: 2, max: 8192 }, "Longer texts are cut, for their vector only; up to 512 for the models of this program. What is sent to a provider is cut to four bytes for each. Another value gives different vectors: a pack keeps the value it was created with."),
};

/** The language model for everything that needs one. By default nothing does. */
// biome-ignore format: a row for each setting
const EXTRACTION = {
  provider: member(["openai", "anthropic", "ollama"], DEFAULT_LANGUAGE_MODEL.provider, "Who runs the language model: a hosted provider, or `ollama` on this machine. Setting it, `extraction.model`, `extraction.api_key` or `extraction.base_url` turns extraction from ingested messages on."),
  model: text(DEFAULT_LANGUAGE_MODEL.name, "The language model, by the provider's name for it."),
  api_key: optionalSecret("Key of a hosted provider. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, from the environment, then `.env`."),
  base_url: optionalText("Address of the provider, http or https. Unset: `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, from the environment, then `.env`; else the provider's own, for `ollama` port 11434 of this machine."),
  timeout: decimal({ default: 30, above: 0, max: 3600 }, "Seconds for one answer of the model, retries included."),
  batch_timeout: decimal({ default: 180, above: 0, max: 3600 }, "Seconds for one answer about several messages (`extraction_batch_target_tokens`)."),
  lease_seconds: decimal({ default: 300, above: 0, max: 86_400 }, "Seconds for which the work on a message stays with a process that gives no sign of life."),
  max_retries: integer({ default: 3, min: 0, max: 10 }, "Retries if an answer does not have the requested form. Other wordings of a question (`enable_query_reformulation`) always have 2."),
  temperature: decimal({ default: 0, min: 0, max: 2 }, "0: the likeliest answer; higher: more varied ones. Other wordings of a question are always requested at 0."),
  reasoning_effort: optionalMemberOrNone(["none", "low", "medium", "high"], "How long the model may think, if it supports that; unset: not sent, for `ollama` `none`."),
};

/** Observation of photos and videos. */
// biome-ignore format: a row for each setting
const VISION = {
  enabled: flag(false, "Whether photos and videos can be observed (`svc observe` turns it on for itself). Their pictures are sent only to the model of this group."),
  provider: member(["ollama", "openai", "anthropic"], DEFAULT_VISION_MODEL.provider, "Who runs the vision model: `ollama` on this machine, or a hosted provider, which then gets the pictures."),
  model: text(DEFAULT_VISION_MODEL.name, "The vision model, by the provider's name for it."),
  api_key: optionalSecret("Key of a hosted provider. Unset: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, from the environment, then `.env`."),
  base_url: optionalText("Address of the provider, http or https. Unset: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `OLLAMA_HOST`, from the environment, then `.env`; else the provider's own, for `ollama` port 11434 of this machine."),
  timeout: decimal({ default: 180, above: 0, max: 3600 }, "Seconds for the description of one picture, retries included."),
  describe_prompt_version: integer({ default: 2, min: 2, max: 2 }, "Version of what the model is asked. A picture that was observed with another one counts as not observed."),
  extract: flag(true, "Whether claims are extracted from descriptions, as from ingested messages, if extraction is on."),
  extraction_retry_delays: numberList({ default: [5, 15, 60], min: 0, max: 86_400 }, "Seconds before each further try of an extraction that failed, before the next picture."),
  fps: decimal({ default: 1, above: 0, max: 1000 }, "Frames of a video that are looked at, per second."),
  frame_width: integer({ default: 1280, min: 64, max: 16_384 }, "Pixels of a frame of a video, from left to right."),
  change_threshold: decimal({ default: 0.55, min: 0 }, "How much a frame has to differ from the last one that was kept, to be kept as well: in greys from 0 to 255, the mean of 64 x 36."),
  max_gap_seconds: decimal({ default: 30, above: 0 }, "Seconds of a video after which a frame is kept even if nothing changed."),
  repeat_similarity: decimal({ default: 0.93, min: 0, max: 1 }, "Cosine from which a description that quotes the same texts repeats the one before it, and is dropped."),
  thumbnail_width: integer({ default: 320, min: 16, max: 4096 }, "Pixels of the longer side of a thumbnail, at most."),
  keep_thumbnails: flag(true, "Whether a small picture is kept in the pack with each description."),
};

/** Who may use the HTTP interface. */
// biome-ignore format: a row for each setting
const API = {
  api_key: optionalSecretName("One bearer key with access to all owners, of an operator.", "not blank"),
  user_keys: mapOf(secret, { default: {}, bounds: "no blank owner or key, no owner or key twice", isSecret: true }, 'A bearer key for each owner: {"<user_id>":"<key>"}.'),
  keys_file: optionalPath("A file of further keys with names, several of an owner if need be, which `svc keys` makes and revokes while the server runs."),
  allowed_hosts: listOf(z.string().trim().toLowerCase().regex(HOST_NAME), { default: [], bounds: "host names or addresses, without scheme and port" }, "Names by which requests may address the server in addition to the loopback ones, for example that of a proxy in front. No effect with keys: then any name will do."),
  metrics: flag(false, "Answer `GET /metrics` with numbers for Prometheus, to operators."),
  metrics_key: optionalSecretName("A bearer key that opens `/metrics` and nothing else, and is needed for it where there is no other key. Needed with `api.user_keys`, whose holders may not read it.", "not blank"),
  cors_origins: textList("Web origins that may call the API, as browsers send them (`http://localhost:3000`, without a path); empty: only pages of this machine."),
  cors_allow_credentials: flag(false, "Let listed origins send credentials; ignored with the origin `*`."),
  inspector: optionalFlag("Serve the inspector's page at `/inspect/`. Unset: only if just this machine can reach the server. `false`: nowhere, and `svc open` fails."),
};

/** Whose memories the MCP interface offers. */
// biome-ignore format: a row for each setting
const MCP = {
  user_id: optionalName("Binds `svc mcp` over stdio to one owner. Excludes `mcp.user_keys`.", "not blank"),
  user_keys: mapOf(secret, { default: {}, bounds: "no blank owner or key, no owner or key twice", isSecret: true }, "Keys of owners for network transports; refused with stdio."),
};

/** The weights that sum to 1. */
export const ADDITIVE_WEIGHTS = [
  "w_semantic",
  "w_lexical",
  "w_graph",
  "w_recency",
  "w_salience",
  "w_confidence",
] as const;

function additive(value: number, signal: string) {
  const weights = ADDITIVE_WEIGHTS.map((name) => `\`${name}\``).join(", ");
  return decimal(
    { default: value, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    `\`weighted\` only: weight of ${signal}. ${weights} sum to 1.`,
  );
}

/** How candidates are scored. */
// biome-ignore format: a row for each setting
const SCORING = {
  fusion: optionalMember(["rrf", "weighted", "relative", "adaptive"], "adaptive", "How the signals of a candidate become one score. `rrf`: by its ranks in the vector and the word search. `relative`: by its cosine and its BM25, rescaled. `adaptive`: the same, where the words count by how much of the question they explain, and the cosine counts less if the words point to a few memories. `weighted`: by the sum of all signals."),
  rrf_k: optionalInteger({ default: DEFAULT_RRF_K, min: 1, max: 10_000 }, "`rrf` only: a higher value makes the first ranks count less; unset: 60. Dropped with a warning under another fusion."),
  rrf_tie_break: optionalMember(["event_time"], "event_time", "All but `weighted`: order of equal scores; `event_time` puts the newest first. Dropped with a warning under `weighted`."),
  rrf_recency_boost: optionalDecimal({ default: 0.25, above: 0, max: 4 }, "All but `weighted`: what the newest memory gains on a question about the present; unset: nothing. Dropped with a warning under `weighted`."),
  relative_semantic_share: decimal({ default: DEFAULT_SEMANTIC_SHARE, min: 0, max: 1 }, "`relative` only: share of the cosine in the score; BM25 has the rest. Dropped with a warning under another fusion."),
  adaptive_semantic_share: decimal({ default: DEFAULT_SEMANTIC_SHARE, min: 0, max: 1 }, "`adaptive` only: share of the cosine in the score if the words explain the question; BM25 has the rest. Dropped with a warning under another fusion."),
  adaptive_full_coverage: decimal({ default: DEFAULT_FULL_COVERAGE, above: 0, max: 1 }, "`adaptive` only: how much of the question, by the rarity of its words, the best hit of the word search must explain for BM25 to have its whole share. Dropped with a warning under another fusion."),
  node_type_boost: mapOf(mapNumber({ min: 0, max: MAX_WEIGHT }), { default: DEFAULT_SCORING.nodeTypeBoost, bounds: `keys: ${NODE_TYPES.join(", ")}; values 0 to ${MAX_WEIGHT}`, }, "Factor on the score by type of memory; 1 for types that are left out."),
  w_semantic: additive(DEFAULT_SCORING.semantic, "the cosine"),
  w_lexical: additive(DEFAULT_SCORING.lexical, "the words in common"),
  w_graph: additive(DEFAULT_SCORING.graph, "the distance from an entity of the question"),
  w_recency: additive(DEFAULT_SCORING.recency, "how recent it is"),
  w_salience: additive(DEFAULT_SCORING.salience, "how salient it is"),
  w_confidence: additive(DEFAULT_SCORING.confidence, "how sure it is"),
  w_epistemic: decimal({ default: DEFAULT_SCORING.epistemic, min: -MAX_WEIGHT, max: MAX_WEIGHT }, "Part of the scoring version; no formula reads it."),
  w_paths: decimal({ default: DEFAULT_SCORING.paths, min: -MAX_WEIGHT, max: MAX_WEIGHT }, "Part of the scoring version; no formula reads it."),
  recency_lambda: decimal({ default: DEFAULT_SCORING.recencyLambda, min: 0, max: MAX_WEIGHT }, "How fast recency fades, per day."),
  temporal_boost: decimal({ default: DEFAULT_SCORING.temporalBoost, min: -MAX_WEIGHT, max: MAX_WEIGHT }, "What a memory of the requested time gains on a question about time; 0 or less: nothing."),
  relevance_floor: decimal({ default: DEFAULT_SCORING.relevanceFloor, min: -MAX_WEIGHT, max: MAX_WEIGHT }, "A memory whose cosine and words together stay below it gains nothing from other signals; 0 turns this off."),
  current_update_multiplier: decimal({ default: DEFAULT_SCORING.currentUpdateMultiplier, min: 1, max: 2 }, "Factor on the newest memory when it mentions a change and the question is about the present; 1 turns this off."),
  recency_time: optionalMember(["event_time"], undefined, "`weighted` only: `event_time` measures recency from the stated time instead of the last change. Dropped with a warning under another fusion."),
};

/** How many candidates there are and how they become a context. */
// biome-ignore format: a row for each setting
const PACKING = {
  // The context: its size, form and order.
  token_budget: integer({ default: 4096, min: 0, max: 10_000_000 }, "Tokens of a context when the caller names no budget; above 131072 it counts as that."),
  overhead_tokens: integer({ default: 100, min: 0, max: 1_000_000 }, "Tokens of the budget reserved for the caller's own frame."),
  tokenizer: member(["cl100k_base"], "cl100k_base", "The encoding in which tokens are counted. Texts of special tokens count as ordinary text."),
  min_fidelity: member(REPRESENTATION_LEVELS, "reference", "The shortest form in which a memory may enter a context."),
  context_format: member(CONTEXT_FORMATS, "reader", "How a memory is written. `reader`: one plain line. `auditable`: a JSON object with its id. `compact`: a JSON array with a short reference."),
  context_citations: flag(false, "Put a short reference such as `[m3]` before each line; needs `reader`."),
  context_guidance_mode: member(GUIDANCE_MODES, "temporal", "Tell the reader how to use the memories: `temporal` for questions about time, `all` also for questions about the present and for advice."),
  multipath_ordering: member(MULTIPATH_ORDERINGS, "balanced", "Order in which memories compete for the budget: by score, by score per token, or `balanced` between the two."),
  fold_repeated_text: flag(true, "`reader` only: leave out a memory whose text is part of another one from the same source."),
  // The searches: the candidates each may find.
  vector_k: optionalInteger({ default: undefined, min: 0, max: 4096 }, "Candidates of the vector search; 0 turns it off. Unset: 50, and 300 with the fusions `relative` and `adaptive`."),
  lexical_k: optionalInteger({ default: undefined, min: 0, max: 10_000 }, "Candidates of the text search; 0 turns it off. Unset: 50, and 300 with the fusions `relative` and `adaptive`."),
  graph_max_candidates: integer({ default: 50, min: 0, max: 10_000 }, "Candidates of the walk from the entities of the question; 0 turns it off."),
  graph_max_hops: integer({ default: 3, min: 1, max: 3 }, "Maximum edges that the walk follows from an entity."),
  aggregation_k_multiplier: decimal({ default: 3, min: 1, max: 1000 }, "Factor on the three limits above when the question asks for a count or a complete list."),
  aggregation_k_max: integer({ default: 2000, min: 1, max: 4096 }, "The maximum to which that factor raises a limit."),
  cross_scope_top_n: integer({ default: 5, min: 0, max: 1000 }, "Hints from scopes that were not asked for, for embedded callers; 0: none."),
  // Additions to the candidates found.
  session_context_window: integer({ default: 3, min: 0, max: 1000 }, "Neighbours on either side that a found turn of a conversation brings in; 0: none."),
  session_context_top_k: integer({ default: 20, min: 0, max: 10_000 }, "Number of best candidates that bring in their neighbours."),
  session_context_score_decay: decimal({ default: 0.85, ...PART }, "Share of its trigger's score that a neighbour gets."),
  session_context_rank_fusion_score_decay: optionalDecimal({ default: 0.6, ...PART }, "The same unless the fusion is `weighted`; unset: `packing.session_context_score_decay`."),
  session_context_packing: optionalMember(SESSION_PACKINGS, undefined, "`trigger_tier`: neighbours are packed as early as what brought them. `adjacent`: they are also placed next to it."),
  episode_context_top_k: integer({ default: 0, ...GROUPS }, "Conversations whose best memories are raised together; 0: none."),
  episode_context_local_k: integer({ default: 8, ...MEMBERS }, "Memories raised per such conversation."),
  episode_context_score_decay: decimal({ default: 0.95, ...PART }, "Share of the score that they get."),
  evidence_projection_top_k: integer({ default: 0, ...GROUPS }, "Groups of memories of one source that the source replaces; 0: none. Excludes `packing.evidence_augmentation_top_k`."),
  evidence_projection_max_sources: integer({ default: 1, ...MEMBERS }, "Sources that replace one group."),
  evidence_projection_score_decay: decimal({ default: 1, ...PART }, "Share of the group's score that such a source gets."),
  evidence_augmentation_top_k: integer({ default: 0, ...GROUPS }, "Groups of memories of one source that get the source added; 0: none. Excludes `packing.evidence_projection_top_k`."),
  evidence_augmentation_max_sources: integer({ default: 1, ...MEMBERS }, "Sources that one group gets."),
  evidence_augmentation_score_decay: decimal({ default: 0.99, ...PART }, "Share of the group's score that such a source gets."),
  evidence_augmentation_anchor_policy: member(ANCHOR_POLICIES, "all", "Which memories may lead a group: `all`, or all but entities."),
};

/** Records of retrievals. */
// biome-ignore format: a row for each setting
const RECEIPTS = {
  retention_days: optionalInteger({ default: 90, min: 0, max: 1_000_000 }, "Days that the receipt of a retrieval is kept; 0: none is written; unset: indefinitely. Citations can only name a retrieval with a receipt."),
  detail: member(RECEIPT_DETAILS, "lean", "What a receipt keeps: `lean`: the question, what was in the context, and the first 20 results with their scores and why; `full`: all that decided the answer, so that scores can be computed again, at 20 to 40 times the size. A question that asks for an explanation leaves a full one."),
};

/** Local models that are not built in. */
// biome-ignore format: a row for each setting
const MODELS = {
  hub_url: text("https://huggingface.co", "Where local models are downloaded from when a setting names one instead of a folder. Nothing is downloaded for what is turned off."),
  download_timeout: decimal({ default: 1800, above: 0, max: 86_400 }, "Seconds for the download of one model."),
  download_stall_timeout: decimal({ default: 30, above: 0, max: 3600 }, "Seconds without a byte after which a download is abandoned."),
  threads: integer({ default: 1, min: 1, max: 256 }, "Processor threads for one run of a reranker."),
};

/** Background work, and when the organizer does what. */
// biome-ignore format: a row for each setting
const ORGANIZER = {
  opportunistic_enabled: flag(true, "Upkeep in the background. Archives memories whose retention has ended, after opening and after calls, pass after pass until none is left; after `ingest` and `retrieve` also promotes memories of their owner and archives faded ones, one pass. Off: memories stay as they are until the organizer is asked; expired ones are found by `explicit` mode alone and take up places of candidates in searches."),
  opportunistic_cooldown: integer({ default: 3600, min: 0, max: 31_536_000 }, "Seconds from the end of such work for one owner to the next."),
  opportunistic_budget_ms: integer({ default: 200, min: 0, max: 600_000 }, "Milliseconds after which a pass starts no further memory."),
  opportunistic_batch_size: integer({ default: 50, min: 1, max: 10_000 }, "Maximum memories changed per pass and kind of work."),
  default_organize_budget_ms: integer({ default: 5000, min: 0, max: 86_400_000 }, "Milliseconds for a run of the organizer that names no budget."),
  promotion_age_days: decimal({ default: 7, ...DAYS }, "Days after which a tentative memory becomes stable."),
  promotion_evidence_count: integer({ default: 1, min: 0, max: 1_000_000 }, "Events that must support it by then."),
  fading: member(FADING_PROFILES, "own", "What decays: `own`: only summaries that the organizer wrote; `original`: every memory, and new ones have the specification's retention."),
  fade_after_days: mapOf(mapInteger({ min: 1, max: 1_000_000 }), { default: {}, bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 1` }, "Days after which a memory of a type is archived that was in no context and was not reinforced meanwhile; a type that is left out: never. Receipts must be kept that long."),
  archive_salience_threshold: decimal({ default: 0.1, ...SHARE }, "A memory whose decayed salience is below this and whose decayed confidence is below `archive_confidence_threshold` is archived."),
  archive_confidence_threshold: decimal({ default: 0.4, ...SHARE }, "The confidence of `archive_salience_threshold`."),
  force_archive_salience_threshold: decimal({ default: 0.05, ...SHARE }, "A memory whose decayed salience is below this is archived, whatever its confidence."),
  deprecate_confidence_threshold: decimal({ default: 0.15, ...SHARE }, "A memory whose decayed confidence is below this is archived; a contested one becomes deprecated."),
  dedup_similarity_threshold: decimal({ default: 0.92, ...SHARE }, "Cosine from which two memories are compared as duplicates."),
  consolidation_min_cluster_size: integer({ default: 3, min: 2, max: 1_000_000 }, "Similar memories from which a group is summed up."),
  consolidation_similarity_threshold: decimal({ default: 0.8, ...SHARE }, "Cosine from which memories belong to one group."),
  consolidation_preserve_recent_days: integer({ default: 7, ...DAYS }, "Days for which a memory of a group that was summed up stays active in any case."),
  consolidation_min_confidence_preserve: decimal({ default: 0.8, ...SHARE }, "Confidence from which it always stays active."),
  summarization_daily_min_events: integer({ default: 5, ...COUNT }, "Memories of a day from which the day gets a summary."),
  summarization_weekly_min_summaries: integer({ default: 3, ...COUNT }, "Summaries of days from which a week gets one."),
  summarization_monthly_min_summaries: integer({ default: 2, ...COUNT }, "Summaries of weeks from which a month gets one."),
  summarization_max_items_per_summary: integer({ default: 10, ...COUNT }, "Sources that one summary quotes at most."),
  extractive_summaries: flag(false, "Let summaries of days, weeks, months and groups quote whole memories, without a language model. Off: the model of extraction chooses sentences; where there is none, no summaries are made."),
  default_ttl_days: mapOf(mapIntegerOrNull({ min: 0, max: 1_000_000 }), { default: {}, bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 0 or null` }, "Days for which a new memory of a type is kept if its caller names none; null or left out: for ever. Empty with `fading` `original`: the specification's (event 365, decision 180, task 90, summary 365, note 90)."),
};

export const GROUP_SETTINGS = {
  embedding: EMBEDDING,
  extraction: EXTRACTION,
  vision: VISION,
  api: API,
  mcp: MCP,
  scoring: SCORING,
  packing: PACKING,
  receipts: RECEIPTS,
  models: MODELS,
  organizer: ORGANIZER,
};

/** Groups whose settings may also be written with one underscore: `SVC_API_API_KEY`. */
export const SINGLE_UNDERSCORE_GROUPS: readonly string[] = [
  "embedding",
  "extraction",
  "vision",
  "api",
  "mcp",
  "organizer",
];

/** Reads a configuration; unknown names are refused. */
export const CONFIG_SCHEMA = z.strictObject({
  ...ROOT_SETTINGS,
  embedding: z.strictObject(EMBEDDING).prefault({}),
  extraction: z.strictObject(EXTRACTION).prefault({}),
  vision: z.strictObject(VISION).prefault({}),
  api: z.strictObject(API).prefault({}),
  mcp: z.strictObject(MCP).prefault({}),
  scoring: z.strictObject(SCORING).prefault({}),
  packing: z.strictObject(PACKING).prefault({}),
  receipts: z.strictObject(RECEIPTS).prefault({}),
  models: z.strictObject(MODELS).prefault({}),
  organizer: z.strictObject(ORGANIZER).prefault({}),
});

/** Every setting with its value. Names are the documented ones, in code as in the environment. */
export type Config = Settings & {
  /** Whether extraction was requested: by its provider, model, key or address. A key in the environment alone does not. */
  readonly isExtractionOn?: boolean;
  /** The folder that was named as the pack; unset if its database file or a pack file was named. */
  readonly packFolder?: string;
};

type Settings = z.output<typeof CONFIG_SCHEMA>;

/** Settings given by a caller; undefined ones count as absent. */
export type ConfigInput = {
  readonly [K in keyof Settings]?: K extends keyof typeof GROUP_SETTINGS
    ? { readonly [N in keyof Settings[K]]?: AsGiven<Settings[K][N]> | undefined } | undefined
    : AsGiven<Settings[K]> | undefined;
};

/** Secrets are given as text. */
type AsGiven<T> = T extends Secret
  ? string
  : T extends Readonly<Record<string, Secret>>
    ? Readonly<Record<string, string>>
    : T;

export type SettingDescription = SettingMeta & {
  /** For example `packing.token_budget`. */
  readonly setting: string;
  readonly group: string | undefined;
  /** Names of its environment variable, the preferred one first. */
  readonly environment: readonly [string, ...string[]];
};

let described: readonly SettingDescription[] | undefined;

/** Every setting of this version, the root first, then group by group. */
export function describeSettings(): readonly SettingDescription[] {
  described ??= [
    ...Object.entries(ROOT_SETTINGS).map(([name, schema]) => describe(undefined, name, schema)),
    ...Object.entries(GROUP_SETTINGS).flatMap(([group, settings]) =>
      Object.entries(settings).map(([name, schema]) => describe(group, name, schema)),
    ),
  ];
  return described;
}

/** The setting of that name, for example `packing.token_budget`. */
export function describeSetting(setting: string): SettingDescription | undefined {
  return describeSettings().find((known) => known.setting === setting);
}

function describe(group: string | undefined, name: string, schema: z.ZodType): SettingDescription {
  const meta = META.get(schema);
  if (meta === undefined) throw new Error(`the setting ${name} has no description`);
  if (group === undefined) {
    return { ...meta, setting: name, group, environment: [`SVC_${name.toUpperCase()}`] };
  }
  const environment: [string, ...string[]] = [`SVC_${group.toUpperCase()}__${name.toUpperCase()}`];
  if (SINGLE_UNDERSCORE_GROUPS.includes(group)) {
    environment.push(`SVC_${group.toUpperCase()}_${name.toUpperCase()}`);
  }
  return { ...meta, setting: `${group}.${name}`, group, environment };
}
