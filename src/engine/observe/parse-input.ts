import { parseOptionalText, parseSessionId, parseUserId } from "../../domain/arguments.ts";
import { parseMember, SCOPES, type Scope } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { copyMetadata } from "../../domain/metadata.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { FootageInput } from "../../ports/footage.ts";
import type { ObserveInput } from "./api.ts";

/** A checked call. */
export type Wish = {
  readonly source: FootageInput;
  readonly userId: string;
  readonly scope: Scope;
  readonly capturedAt: Instant | undefined;
  readonly sourceName: string | undefined;
  readonly sessionId: string | undefined;
  /** As it was at the call. Its keys are checked when a frame is stored. */
  readonly metadata: JsonObject;
  readonly signal: AbortSignal | undefined;
  readonly onFrame: ObserveInput["onFrame"];
};

/** @throws SvcError invalid_argument */
export function parseObserveInput(input: ObserveInput): Wish {
  return {
    userId: parseUserId(input.userId),
    source: parseSource(input.source),
    scope: parseMember(SCOPES, input.scope ?? "personal", "scope"),
    capturedAt: parseInstantInput(input.capturedAt, "captured_at"),
    sourceName: parseName(input.sourceName, "source_name"),
    sessionId: parseSessionId(input.sessionId),
    metadata: copyMetadata(input.metadata) ?? {},
    signal: input.signal ?? undefined,
    onFrame: input.onFrame,
  };
}

function parseSource(source: unknown): FootageInput {
  if (source instanceof Uint8Array) {
    if (source.length === 0) throw invalid("source", "has no bytes");
    return { bytes: source };
  }
  if (typeof source !== "string") throw invalid("source", "must be a path or bytes");
  if (source === "" || source.includes("\0")) throw invalid("source", "is no path of a file");
  return { path: source };
}

function parseName(value: unknown, field: string): string | undefined {
  const name = parseOptionalText(value, field);
  if (name?.trim() === "") throw invalid(field, "is blank; leave it out or name the source");
  return name;
}
