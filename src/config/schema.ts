import { z } from "zod";
import { BLOB_LIMIT_BYTES } from "../domain/blob.ts";
import { NODE_TYPES } from "../domain/enums.ts";
import type { Secret } from "../lib/secret.ts";
import {
  integer,
  mapIntegerOrNull,
  mapNumber,
  mapOf,
  member,
  optionalFlag,
  optionalPath,
  optionalSecretName,
  optionalText,
  path,
} from "./fields.ts";
import { API, MCP } from "./schema-access.ts";
import { DATABASE } from "./schema-database.ts";
import { EMBEDDING } from "./schema-embedding.ts";
import { EXTRACTION, EXTRACTION_READING, EXTRACTION_STEPS } from "./schema-extraction.ts";
import { IDLE_SETTINGS } from "./schema-idle.ts";
import { MODELS } from "./schema-models.ts";
import { ORGANIZER_RULES } from "./schema-organizer.ts";
import { PACKING } from "./schema-packing.ts";
import { RECEIPTS, RETRIEVAL_SETTINGS } from "./schema-retrieval.ts";
import { SCORING } from "./schema-scoring.ts";
import { OPPORTUNISTIC, STORE_STEPS } from "./schema-upkeep.ts";
import { VISION } from "./schema-vision.ts";

/** Settings without a group. */
export const ROOT_SETTINGS = {
  pack_path: optionalPath(
    "The pack: one file that holds everything, or the folder of a directory pack. Unset: the directory layout of the next three settings. In this path and the next ones `~` or `$HOME` at the start is the home folder.",
  ),
  db_path: path("./memory.db", "Directory layout: the database file."),
  vector_path: path("./vectors.index", "Directory layout: the file of the vector index."),
  lexical_path: path("./lexical_index", "Directory layout: the folder of the text index."),
  ...DATABASE,
  encryption_enabled: optionalFlag(
    "Whether `encryption_key` is used, to open an encrypted pack and to encrypt one that is made. Opening never encrypts an unencrypted pack. Unset: a program that embeds the engine makes unencrypted packs, and `svc` makes encrypted ones, with a key that it keeps.",
  ),
  encryption_key: optionalSecretName(
    "The key of the pack: a passphrase, or `raw_key:` and 32 bytes as URL-safe base64. Used when `encryption_enabled` is on.",
    "",
  ),
  new_encryption_key: optionalSecretName(
    "The key that `svc rekey` gives a pack, in the same forms. Nothing else reads it.",
    "",
  ),
  key_store: member(
    ["auto", "file"],
    "auto",
    "Where `svc` keeps the keys of packs and looks for them. `auto`: in the system's secret store, and in key files where there is none. `file`: in key files only.",
  ),
  log_format: member(
    ["text", "json"],
    "text",
    "Form of the log of servers on standard error. `json`: one object a line, with `time`, `level`, `message` and what else is known.",
  ),
  namespace_id: optionalText(
    "The identity of the pack: a UUID. A new pack gets it; one with another or none is refused.",
  ),
  write_queue_size: integer(
    { default: 1000, min: 1, max: 1_000_000 },
    "Writes that may wait; further callers wait for room, nothing is dropped.",
  ),
  synchronous: member(
    ["full", "normal"],
    "full",
    "`full`: an acknowledged write survives a power cut. `normal`: faster; a power cut may undo the last writes, a crash of the program does not.",
  ),
  busy_timeout_ms: integer(
    { default: 5000, min: 0, max: 600_000 },
    "Milliseconds to wait for another process that is writing to the same pack.",
  ),
  materialization_queue_size: integer(
    { default: 500, min: 1, max: 100_000 },
    "Admitted events that one processing pass reads at a time.",
  ),
  materialization_budget_ms: integer(
    { default: 100, min: 0, max: 600_000 },
    "Milliseconds that a retrieve may spend on the owner's pending events first.",
  ),
  blob_max_bytes: integer(
    { default: 1_048_576, min: 1024, max: BLOB_LIMIT_BYTES },
    "Bytes of a picture that is kept with an event; a larger one is refused, also by `svc import`.",
  ),
  ...IDLE_SETTINGS,
  ...STORE_STEPS,
  ...EXTRACTION_STEPS,
  ...EXTRACTION_READING,
  ...RETRIEVAL_SETTINGS,
  confidence_overrides: mapOf(
    mapNumber({ min: 0, max: 1 }),
    { default: {}, bounds: "keys `epistemic:source`; values 0 to 1" },
    'Replaces initial confidences, for example {"asserted:user_stated":0.9}.',
  ),
};

const ORGANIZER = {
  ...OPPORTUNISTIC,
  ...ORGANIZER_RULES,
  default_ttl_days: mapOf(
    mapIntegerOrNull({ min: 0, max: 1_000_000 }),
    { default: {}, bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 0 or null` },
    "Days for which a new memory of a type is kept if its caller names none; null or left out: for ever. Empty with `fading` `original`: the specification's (event 365, decision 180, task 90, summary 365, note 90).",
  ),
};

/** Settings by group. */
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

/** Every setting with its value. Names are those of the documentation, in code as in the environment. */
export type Config = Settings & {
  /** Whether somebody asked for extraction: by its provider, model, key or address. A key of the environment alone asks for nothing. */
  readonly isExtractionOn?: boolean;
};

type Settings = z.output<typeof CONFIG_SCHEMA>;

/** The settings that a caller wants to decide; undefined ones count as absent. */
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
