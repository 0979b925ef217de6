import { conditionState } from "../../../domain/epistemics.ts";
import { isOwnInstruction } from "../../../domain/instruction.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { seenIn, seenInWords } from "../../../domain/seen.ts";
import { beginsWithSpeaker, storedSpeaker } from "../../../domain/speaker.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { OlderThan } from "../api.ts";
import { jsonLine } from "./json-line.ts";
import { shortTime, storedTime } from "./times.ts";

/** The content of a reader line: its parts joined by blanks, and whether it names a speaker. */
export type ReaderParts = { readonly text: string; readonly namesSpeaker: boolean };

/**
 * Date, status, speaker and text of a memory, each only if there is something to say. Speaker and text are JSON strings, so that
 * no memory can pose as a heading, a reference or a status. Node ids never appear.
 */
export function readerParts(node: MemoryNode, shown: ShownTags & { text: string }): ReaderParts {
  const speaker = shownSpeaker(node);
  const parts = [
    bracketed(dateLabel(node)),
    bracketed([...statusTags(node), ...seenTags(node), ...shownTags(shown)].join(", ")),
    speaker === undefined ? "" : `${jsonLine(speaker)}:`,
    jsonLine(shown.text),
  ];
  return {
    text: parts.filter((part) => part !== "").join(" "),
    namesSpeaker: speaker !== undefined,
  };
}

type ShownTags = {
  readonly olderThan?: OlderThan | undefined;
  readonly repeats?: number | undefined;
  readonly stored?: Instant | undefined;
};

/** What is said of a record beside others. While lines are written it is unknown which records will be shown. */
export function shownTags({ olderThan, repeats, stored }: ShownTags): readonly string[] {
  return [
    ...(olderThan === undefined ? [] : [`older than a record of ${shortTime(olderThan.at)}`]),
    ...(stored === undefined ? [] : [`stored ${storedTime(stored)}`]),
    ...(repeats === undefined ? [] : [`${repeats} times`]),
  ];
}

/** In which photo or frame it was seen, if in any; the name of a file is a JSON string. */
export function seenTags({ metadata }: MemoryNode): readonly string[] {
  const seen = seenIn(metadata);
  return seen === undefined ? [] : [seenInWords(seen, jsonLine)];
}

/** States other than the usual ones, in a fixed order. */
export function statusTags(node: MemoryNode): readonly string[] {
  const tags: string[] = [];
  if (node.lifecycleState !== "tentative" && node.lifecycleState !== "stable") {
    tags.push(node.lifecycleState);
  }
  if (node.epistemicType === "conditional") {
    tags.push(`conditional (condition ${conditionState(node)})`);
  } else if (node.epistemicType !== "observed" && node.epistemicType !== "asserted") {
    if (!tags.includes(node.epistemicType)) tags.push(node.epistemicType);
  }
  if (node.nodeType === "instruction" && !isOwnInstruction(node)) {
    tags.push(`instruction, source ${node.sourceType}`);
  }
  return tags;
}

/**
 * The interval in which it is valid, if nothing replaced the memory and the interval has an end, or begins later than it was stored
 * and than the time that is shown with it.
 */
export function validityLabel({
  validFrom,
  validTo,
  supersededBy,
  createdAt,
  eventTime,
}: MemoryNode): string | undefined {
  if (supersededBy !== undefined) return undefined;
  if (validTo !== undefined) return `valid ${shortTime(validFrom)} to ${shortTime(validTo)}`;
  return validFrom > createdAt && validFrom !== eventTime
    ? `valid from ${shortTime(validFrom)}`
    : undefined;
}

function shownSpeaker(node: MemoryNode): string | undefined {
  const speaker = storedSpeaker(node.metadata);
  return speaker === undefined || beginsWithSpeaker(node.content, speaker) ? undefined : speaker;
}

function bracketed(text: string): string {
  return text === "" ? "" : `[${text}]`;
}

function dateLabel(node: MemoryNode): string {
  const { eventTime } = node;
  const isShown = eventTime !== undefined && !statesDate(node.content, eventTime);
  return [isShown ? shortTime(eventTime) : undefined, validityLabel(node)]
    .filter((part) => part !== undefined)
    .join("; ");
}

const MONTHS = [
  "jan(?:uary)?",
  "feb(?:ruary)?",
  "mar(?:ch)?",
  "apr(?:il)?",
  "may",
  "june?",
  "july?",
  "aug(?:ust)?",
  "sept?(?:ember)?",
  "oct(?:ober)?",
  "nov(?:ember)?",
  "dec(?:ember)?",
] as const;

/** Characters within which a leading group or a leading date ends, not counting opening brackets and blanks. */
const DATE_REACH = 120;

/** Whether a text begins with the date of an instant, or with a short bracketed group that contains it. */
function statesDate(text: string, instant: Instant): boolean {
  const [year, month, day] = instant.slice(0, 10).split("-").map(Number);
  const begin = text.search(/[^\s([]/);
  // Every notation of the date contains the year. Most texts do not begin with one, and need no regular expression.
  if (begin < 0 || !text.slice(begin, begin + DATE_REACH).includes(`${year}`)) return false;
  const name = MONTHS[(month ?? 1) - 1] ?? "";
  const forms = [
    `${year}[-/.]0?${month}[-/.]0?${day}(?!\\d)`,
    `0?${day}(?:st|nd|rd|th)?(?:\\s+of)?\\s+${name}\\.?,?\\s+${year}(?!\\d)`,
    `${name}\\.?\\s+0?${day}(?:st|nd|rd|th)?,?\\s+${year}(?!\\d)`,
  ].join("|");
  const atStart = new RegExp(`^[\\s([]*(?:${forms})`, "i");
  if (atStart.test(text)) return true;
  const group = /^\s*[[(]([^[\]()\n]{1,80})[\])]/.exec(text)?.[1];
  return group !== undefined && new RegExp(`(?<!\\d)(?:${forms})`, "i").test(group);
}
