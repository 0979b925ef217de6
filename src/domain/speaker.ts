import { withoutInvisible } from "../lib/invisible.ts";
import { foldCase, nameForm } from "../lib/text.ts";
import { LIMITS } from "./arguments.ts";
import { SvcError } from "./errors.ts";
import type { MemoryNode } from "./node.ts";

/** Metadata key for the speaker's name of event and node. */
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
 * Whether a text names a speaker: the whole name, or the first word of a longer one, as whole words in any case. A single letter does not
 * count.
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

/** A turn is embedded with its speaker's name, so that "I" has a referent. */
export function embeddingText(node: Pick<MemoryNode, "content" | "metadata">): string {
  const speaker = storedSpeaker(node.metadata);
  if (speaker === undefined || beginsWithSpeaker(node.content, speaker)) return node.content;
  return `${speaker}: ${node.content}`;
}

/** Where a memory was seen: in a photo, or in a frame of a video. */
export type SeenIn = {
  readonly file: string;
  /** Seconds from the beginning of a video; undefined for a photo. */
  readonly frameTimeS: number | undefined;
  /** The key of the picture; undefined if none is kept. */
  readonly thumbnail: string | undefined;
};

const MODALITIES: ReadonlySet<unknown> = new Set(["photo", "video_frame"]);
/** UTF-16 units of a file name that are shown. */
const NAME_MAX = 100;

/** The source in the metadata of an observed memory; undefined for any other memory. */
export function seenIn(
  metadata: Readonly<Record<string, unknown>> | undefined,
): SeenIn | undefined {
  const file = metadata?.["source_file"];
  if (metadata === undefined || !MODALITIES.has(metadata["modality"])) return undefined;
  if (typeof file !== "string" || file === "") return undefined;
  const { frame_time_s: time, thumbnail } = metadata;
  return {
    file,
    frameTimeS: typeof time === "number" && time >= 0 ? time : undefined,
    thumbnail: typeof thumbnail === "string" && thumbnail !== "" ? thumbnail : undefined,
  };
}

/** In words: `from frame 0:42 of "trip.mp4"`. @param quote escapes the file name for display */
export function seenInWords(
  { file, frameTimeS }: SeenIn,
  quote: (name: string) => string = JSON.stringify,
): string {
  const name = quote(file.length > NAME_MAX ? `${shortened(file)}…` : file);
  return frameTimeS === undefined
    ? `from photo ${name}`
    : `from frame ${clock(frameTimeS)} of ${name}`;
}

/** Its start, without half of a character. */
function shortened(file: string): string {
  return file.slice(0, NAME_MAX).replace(/[\ud800-\udbff]$/, "");
}

/** Minutes and seconds, with hours if any. */
function clock(seconds: number): string {
  const [h, m, s] = [seconds / 3600, (seconds % 3600) / 60, seconds % 60].map(Math.floor);
  const two = (part: number | undefined): string => String(part).padStart(2, "0");
  return h === 0 ? `${m}:${two(s)}` : `${h}:${two(m)}:${two(s)}`;
}
