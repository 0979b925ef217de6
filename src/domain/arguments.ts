import { type Instant, parseInstant } from "../lib/instant.ts";
import { nameForm } from "../lib/text.ts";
import { parseUuid, type Uuid } from "../lib/uuid.ts";
import { parseMember } from "./enums.ts";
import { invalid, type SvcError } from "./errors.ts";
import { type Owner, toOwner } from "./owner.ts";

/** A visible character: no blank, no control or format character, nothing default-ignorable. */
const VISIBLE = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Checks of arguments that several calls share. Each throws SvcError invalid_argument naming the field. */

/** An owner: not blank, in canonical form. */
export function parseUserId(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") {
    throw invalid("user_id", "must be non-blank text");
  }
  // As UTF-8, all lone surrogates look the same: two owners would become one.
  return nameForm(parseText(value, "user_id"));
}

/** A conversation, or undefined when absent. */
export function parseSessionId(value: unknown): string | undefined {
  const text = parseOptionalText(value, "session_id");
  return text === undefined ? undefined : nameForm(text);
}

/** The same check for an optional argument: undefined when absent. */
function optional<T, Rest extends readonly unknown[]>(parse: (value: unknown, ...rest: Rest) => T) {
  return (value: unknown, ...rest: Rest): T | undefined =>
    value === undefined || value === null ? undefined : parse(value, ...rest);
}

export const parseOptionalUserId = /* @__PURE__ */ optional(parseUserId);
export const parseOptionalText = /* @__PURE__ */ optional(parseText);
export const parseOptionalContent = /* @__PURE__ */ optional(parseContent);
export const parseOptionalId = /* @__PURE__ */ optional(parseId);

/** An owner, or all owners when absent. */
export function parseOwner(value: unknown): Owner {
  return toOwner(parseOptionalUserId(value));
}

/** Text, possibly empty. */
export function parseText(value: unknown, field: string): string {
  if (typeof value !== "string") throw invalid(field, "must be text");
  if (!value.isWellFormed())
    throw invalid(field, "holds a lone surrogate, which is not a character");
  return value;
}

/** Whether a text can be that of a memory: it has a visible character. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** The text of a memory: it must have a visible character, so that it can be read and found. */
export function parseContent(value: unknown, field: string): string {
  const text = parseText(value, field);
  if (!isVisible(text)) throw invalid(field, "is empty; write what is to be remembered");
  return text;
}

/** A finite number in [min, max], or undefined when absent. */
export function parseOptionalNumber(
  value: unknown,
  field: string,
  min: number,
  max: number,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value) || value < min || value > max) {
    const bounds = max === Number.POSITIVE_INFINITY ? `>= ${min}` : `from ${min} to ${max}`;
    throw invalid(field, `${String(value)} is not a number ${bounds}`);
  }
  return value;
}

/** An integer in [min, max], or undefined when absent. */
export function parseOptionalInteger(
  value: unknown,
  field: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    const bounds = max === Number.MAX_SAFE_INTEGER ? `>= ${min}` : `from ${min} to ${max}`;
    throw invalid(field, `${String(value)} is not an integer ${bounds}`);
  }
  return value;
}

/** The maximum size of a page: 1 to 1000, 100 when absent. */
export function parsePageLimit(value: unknown): number {
  return parseOptionalInteger(value, "limit", 1, LIMITS.nodeQueryMax) ?? 100;
}

/** true or false, or undefined when absent. */
export const parseOptionalBoolean = optional((value: unknown, field: string): boolean => {
  if (typeof value !== "boolean") throw invalid(field, "must be true or false");
  return value;
});

/** A list (arrays and sets; never bare text), or undefined when absent. */
export function parseOptionalList(value: unknown, field: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Set) return [...value];
  if (!Array.isArray(value)) throw invalid(field, "must be a list");
  return value;
}

/** A member of a closed set, or undefined when absent. */
export function parseOptionalMember<T extends string>(
  members: readonly T[],
  value: unknown,
  field: string,
): T | undefined {
  return value === undefined || value === null ? undefined : parseMember(members, value, field);
}

/** A list of members of a closed set, each once, or undefined when absent. */
export function parseOptionalMembers<T extends string>(
  members: readonly T[],
  value: unknown,
  field: string,
): readonly T[] | undefined {
  const list = parseOptionalList(value, field);
  // Repeats are dropped: each entry becomes a parameter of a statement.
  return list && [...new Set(list.map((item) => parseMember(members, item, field)))];
}

/** Text that is not blank. */
export function parseFilled(value: unknown, field: string): string {
  const text = parseText(value, field);
  if (text.trim() === "") throw invalid(field, "must not be blank");
  return text;
}

/** An identifier in any notation of a UUID, in canonical form. */
export function parseId(value: unknown, field: string): Uuid {
  const id = typeof value === "string" ? parseUuid(value) : undefined;
  if (id !== undefined) return id;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : "the value";
  throw invalid(field, `${shown} is not a UUID`);
}

/** A position in an order by time and id, as text for callers. */
export function cursorOf({ at, id }: { readonly at: Instant; readonly id: Uuid }): string {
  return `${at}_${id}`;
}

/** The position after which a page begins, or undefined when absent. */
export function parseCursor(
  value: unknown,
): { readonly at: Instant; readonly id: Uuid } | undefined {
  const text = parseOptionalText(value, "cursor");
  if (text === undefined) return undefined;
  const [moment = "", given = "", ...rest] = text.split("_");
  const at = parseInstant(moment);
  const id = parseUuid(given);
  if (typeof at === "string" || id === undefined || rest.length > 0) {
    throw invalid("cursor", "is not the next_cursor of a page");
  }
  return { at: at.instant, id };
}

/** The error for an `after_id` that does not end any page. */
export function noSuchPlace(afterId: Uuid): SvcError {
  return invalid("after_id", `${afterId} is not in the list; begin again with its first page`);
}

/** Limits of the specification that several modules need. */
export const LIMITS = {
  /** Code points of a speaker's name after trimming. */
  speakerMaxChars: 200,
  /** Code points of the name of an actor, after trimming. */
  actorMaxChars: 4000,
  /** Code points of the reason for the evaluation of a condition, after trimming. */
  reasonMaxChars: 4000,
  /** Code points of a question. Other callers wait while one is analysed. */
  queryMaxChars: 131_072,
  /** Tokens of a context. Other callers wait while its texts are counted. */
  contextTokensMax: 131_072,
  /** UTF-16 units of the longest text that enters a context whole: 8 for each token. */
  contextTextChars: 8 * 131_072,
  /** UTF-16 units of long texts that one question holds, beyond the first 64 Ki. */
  questionChars: 32 * 1024 * 1024,
  /** UTF-16 units of a text that are read for its wording: dates, updates, the words of an episode. */
  wordingChars: 64 * 1024,
  valueBindings: 256,
  /** Memories that a new one may replace in one call. */
  supersedesMax: 16,
  /** Memories in one call that stores many. */
  storeManyMax: 1000,
  /** UTF-16 units of text in a page of memories, events or operations; one item may be larger. */
  pageChars: 8 * 1024 * 1024,
  nodeQueryMax: 1000,
  nodeBatchMax: 500,
  scanPageMax: 1000,
  eventPageMax: 1000,
  operationPageMax: 1000,
  /** Nodes citing an event, in one answer. */
  citingNodesMax: 1000,
  /** Edges between a node and the farthest node of its neighborhood. */
  neighborhoodHops: 5,
  /** Nodes that a walk through a neighborhood visits, the first one included. */
  neighborhoodVisited: 1000,
  /** Replacements that a chain follows. */
  chainSteps: 100,
  /** Groups in the answer of an aggregation. */
  aggregationGroupsMax: 10_000,
  /** Samples of one such group. */
  aggregationSamplesMax: 100,
  /** Entries in each list of the state of a claim. */
  stateEntriesMax: 10_000,
} as const;
