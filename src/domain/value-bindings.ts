import type { JsonObject } from "../lib/json.ts";
import { invalid } from "./errors.ts";
import { LIMITS } from "./limits.ts";

/** Metadata key under which event and node keep their value bindings. */
export const VALUE_BINDINGS_KEY = "svc_value_bindings_v1";

/** A short text that the memory shows, paired with the complete form to look up or pass on. */
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

/** The bindings of a stored memory; undefined entries and foreign shapes are left out. */
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
