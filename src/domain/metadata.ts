import { copyJson, type JsonObject } from "../lib/json.ts";
import { foldCase } from "../lib/text.ts";
import { LIMITS } from "./arguments.ts";
import type { Role, SourceType } from "./enums.ts";
import { invalid } from "./errors.ts";
import type { MemoryNode } from "./node.ts";
import { FIRST_PERSON_OWNER_KEY, SPEAKER_KEY, speakerError, storedSpeaker } from "./speaker.ts";

/** Metadata key for the value bindings of event and node. */
export const VALUE_BINDINGS_KEY = "svc_value_bindings_v1";

/** A short text shown in the memory, paired with the complete form to look up or pass on. */
export type ValueBinding = {
  readonly schema_version: 1;
  /** 1 to 128 characters, unique in the memory. */
  readonly reference: string;
  /** 1 to 64 characters. */
  readonly kind: string;
  /** Verbatim part of the source and of the indexed text, 1 to 2048 characters, unique in the memory. */
  readonly presentation: string;
  /** 1 to 2048 characters, different from the presentation. */
  readonly lookup: string;
  readonly lookup_authority: "caller";
};

const TOKEN = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const FIELDS = new Set([
  "schema_version",
  "reference",
  "kind",
  "presentation",
  "lookup",
  "lookup_authority",
]);

/**
 * Checks the value bindings of one memory against its two texts.
 * @throws SvcError invalid_argument naming `value_bindings[i].field`
 */
export function parseValueBindings(
  value: unknown,
  texts: { readonly source: string; readonly indexed: string },
): readonly ValueBinding[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("value_bindings", "must be a list");
  if (value.length > LIMITS.valueBindings) {
    throw invalid(
      "value_bindings",
      `has ${value.length} entries; at most ${LIMITS.valueBindings} are allowed`,
    );
  }
  const bindings = value.map((item, index) =>
    parseBinding(item, `value_bindings[${index}]`, texts),
  );
  requireUnique(bindings, "reference");
  requireUnique(bindings, "presentation");
  return bindings;
}

function parseBinding(
  item: unknown,
  path: string,
  texts: { readonly source: string; readonly indexed: string },
): ValueBinding {
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    throw invalid(path, "must be an object");
  }
  const fields = new Map<string, unknown>(Object.entries(item));
  for (const key of fields.keys()) {
    if (!FIELDS.has(key)) throw invalid(`${path}.${key}`, "is not a field of a value binding");
  }
  if ((fields.get("schema_version") ?? 1) !== 1)
    throw invalid(`${path}.schema_version`, "must be 1");
  if ((fields.get("lookup_authority") ?? "caller") !== "caller") {
    throw invalid(`${path}.lookup_authority`, "must be caller");
  }
  const presentation = text(fields.get("presentation"), `${path}.presentation`, 2048);
  const lookup = text(fields.get("lookup"), `${path}.lookup`, 2048);
  if (presentation === lookup) throw invalid(`${path}.lookup`, "must differ from the presentation");
  if (!texts.source.includes(presentation) || !texts.indexed.includes(presentation)) {
    throw invalid(`${path}.presentation`, "must occur verbatim in the source and the indexed text");
  }
  return {
    schema_version: 1,
    reference: token(fields.get("reference"), `${path}.reference`, 128),
    kind: token(fields.get("kind"), `${path}.kind`, 64),
    presentation,
    lookup,
    lookup_authority: "caller",
  };
}

function text(value: unknown, path: string, max: number): string {
  if (typeof value !== "string" || value.trim() === "")
    throw invalid(path, "must be non-blank text");
  if ([...value].length > max) throw invalid(path, `is longer than ${max} characters`);
  return value;
}

function token(value: unknown, path: string, max: number): string {
  const read = text(value, path, max);
  if (!TOKEN.test(read)) throw invalid(path, "must match [A-Za-z0-9][A-Za-z0-9._:-]*");
  return read;
}

function requireUnique(
  bindings: readonly ValueBinding[],
  field: "reference" | "presentation",
): void {
  const seen = new Set<string>();
  for (const binding of bindings) {
    if (seen.has(binding[field])) {
      throw invalid(
        "value_bindings",
        `the ${field} ${JSON.stringify(binding[field])} occurs twice`,
      );
    }
    seen.add(binding[field]);
  }
}

/** The bindings of a stored memory, without malformed ones. */
export function storedValueBindings(metadata: JsonObject | undefined): readonly JsonObject[] {
  const value = metadata?.[VALUE_BINDINGS_KEY];
  if (!Array.isArray(value)) return [];
  return value.filter(
    (item): item is JsonObject =>
      typeof item === "object" &&
      item !== null &&
      !Array.isArray(item) &&
      typeof item["presentation"] === "string",
  );
}

/** Metadata key of an instruction that the caller attributes to the user: the role that its text came from. */
const ROLE_KEY = "svc_role_v1";

/**
 * Whether a memory is an instruction of its owner: stated by the user in their own words, or confirmed by a promotion. Any other
 * instruction is merely a text that asks for something.
 */
export function isOwnInstruction(node: MemoryNode): boolean {
  if (node.nodeType !== "instruction") return false;
  if (node.lifecycleState === "stable") return true;
  const speaker = storedSpeaker(node.metadata);
  const isOther = speaker !== undefined && foldCase(speaker) !== foldCase(node.userId);
  const isOfOtherRole = node.metadata?.[ROLE_KEY] !== undefined;
  return node.sourceType === "user_stated" && !isOther && !isOfOtherRole;
}

/**
 * Whether a memory may become stable without confirmation. A text that merely asks for something may not: once stable it would count as an
 * instruction of its owner.
 */
export function mayBePromoted(node: MemoryNode): boolean {
  return node.nodeType !== "instruction" || isOwnInstruction(node);
}

/**
 * The metadata of a new instruction. Text of a tool or an assistant does not become the user's own because a caller names the user as its
 * source, so the role is stored too.
 */
export function withRole(
  metadata: JsonObject | undefined,
  { role, sourceType }: { readonly role: Role; readonly sourceType: SourceType },
): JsonObject | undefined {
  const isOwners = role === "user" || role === "human";
  return isOwners || sourceType !== "user_stated" ? metadata : { ...metadata, [ROLE_KEY]: role };
}

/** Keys that the engine writes itself; no caller may set them. */
const RESERVED = [SPEAKER_KEY, VALUE_BINDINGS_KEY, FIRST_PERSON_OWNER_KEY, ROLE_KEY] as const;

/** The caller's part of stored metadata; undefined if empty. */
export function callersMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  const own = Object.entries(metadata ?? {}).filter(
    ([key]) => !RESERVED.some((reserved) => reserved === key),
  );
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** A JSON object of a caller, copied immediately; undefined if absent. @throws SvcError invalid_argument */
export function copyMetadata(value: unknown): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw invalid("metadata", "must be an object");
  }
  const copied = copyJson(value);
  if ("problem" in copied) {
    const { path, reason } = copied.problem;
    throw invalid(path === "" ? "metadata" : `metadata.${path}`, reason);
  }
  // SAFETY: the copy of an object that is neither null nor an array is an object.
  return copied.json as JsonObject;
}

/**
 * Accepts caller metadata: a JSON object, copied immediately, without the engine's own keys.
 * @throws SvcError invalid_argument, or invalid_speaker for a reserved key
 */
export function parseMetadata(value: unknown): JsonObject | undefined {
  const metadata = copyMetadata(value);
  if (metadata === undefined) return undefined;
  for (const key of RESERVED) {
    if (key in metadata) {
      throw speakerError(`metadata.${key}`, "is reserved; use the parameter that sets it");
    }
  }
  return metadata;
}
