import { copyJson, type JsonObject } from "../lib/json.ts";
import { invalid } from "./errors.ts";
import { ROLE_KEY } from "./instruction.ts";
import { FIRST_PERSON_OWNER_KEY, SPEAKER_KEY, speakerError } from "./speaker.ts";
import { VALUE_BINDINGS_KEY } from "./value-bindings.ts";

/** Keys that the engine writes itself; no caller may set them. */
const RESERVED = [SPEAKER_KEY, VALUE_BINDINGS_KEY, FIRST_PERSON_OWNER_KEY, ROLE_KEY] as const;

/** What a caller wrote into stored metadata; undefined if that is nothing. */
export function callersMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  const own = Object.entries(metadata ?? {}).filter(
    ([key]) => !RESERVED.some((reserved) => reserved === key),
  );
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** A JSON object of a caller, copied now; undefined where there is none. @throws SvcError invalid_argument */
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
 * Accepts caller metadata: a JSON object, copied now, without the engine's own keys.
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
