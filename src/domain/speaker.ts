import { withoutInvisible } from "../lib/invisible.ts";
import { nameForm } from "../lib/normal-form.ts";
import { foldCase } from "../lib/text.ts";
import { SvcError } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import type { MemoryNode } from "./node.ts";

/** Metadata key under which event and node keep the name of who spoke. */
export const SPEAKER_KEY = "svc_speaker_v1";
/** Metadata key that is true if the singular first person of a message is its owner. */
export const FIRST_PERSON_OWNER_KEY = "svc_first_person_owner_v1";

// Control characters, lone surrogates, line and paragraph separators, and the bidirectional controls.
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

/** Why a text cannot be a speaker's name; undefined if it can (after trimming). */
function problemOf(name: string): string | undefined {
  const length = [...name].length;
  if (length === 0) return "must not be empty";
  if (length > LIMITS.speakerMaxChars) {
    return `has ${length} characters; at most ${LIMITS.speakerMaxChars} are allowed`;
  }
  return FORBIDDEN.test(name)
    ? "must not contain control characters, line breaks or bidirectional controls"
    : undefined;
}

/**
 * Reads a speaker's name: in NFC, trimmed, 1 to 200 code points.
 * @throws SvcError invalid_speaker
 */
export function parseSpeaker(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw speakerError("speaker", "must be text");
  const name = nameForm(value);
  const problem = problemOf(name);
  if (problem !== undefined) throw speakerError("speaker", problem);
  if (withoutInvisible(name) !== name) {
    throw speakerError("speaker", "must not contain invisible characters");
  }
  return name;
}

/** An `invalid_speaker` error about one field. */
export function speakerError(field: string, message: string): SvcError {
  return new SvcError("invalid_speaker", `${field}: ${message}`, { field });
}

/** The speaker named in a memory's metadata; a stored value that is not a valid name is ignored. */
export function storedSpeaker(
  metadata: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const value = metadata?.[SPEAKER_KEY];
  if (typeof value !== "string") return undefined;
  const name = nameForm(value);
  return problemOf(name) === undefined ? name : undefined;
}

/**
 * Whether a text already begins with its speaker's name and a colon: after blanks and at most one short `[...]` or `(...)` group,
 * ignoring case.
 */
export function beginsWithSpeaker(text: string, name: string): boolean {
  const rest = text.replace(/^\s*(?:\[[^[\]()\n]{1,80}\]|\([^[\]()\n]{1,80}\))?\s*/, "");
  return foldCase(rest).startsWith(`${foldCase(name)}:`);
}

/**
 * Whether a text names a speaker: the whole name, or the first word of a longer one, as whole words in any case. A single letter
 * names nobody.
 */
export function namesSpeaker(text: string, name: string): boolean {
  const words = ` ${wordsOf(text).join(" ")} `;
  const [first = "", ...rest] = wordsOf(name);
  const names = (spoken: string) => spoken.length > 1 && words.includes(` ${spoken} `);
  return names([first, ...rest].join(" ")) || names(first);
}

function wordsOf(text: string): readonly string[] {
  return foldCase(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** A turn is embedded with its speaker's name, which tells the model who "I" is. */
export function embeddingText(node: Pick<MemoryNode, "content" | "metadata">): string {
  const speaker = storedSpeaker(node.metadata);
  if (speaker === undefined || beginsWithSpeaker(node.content, speaker)) return node.content;
  return `${speaker}: ${node.content}`;
}
