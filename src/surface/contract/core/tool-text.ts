import type { EpistemicType, LifecycleState, Scope } from "../../../domain/enums.ts";
import type { MemoryEvent, MemoryNode } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import { daysBetween, type Instant } from "../../../lib/instant.ts";

/** Common parts of the texts of tools. Texts from memories are data: each is on one line, after the facts about it. */

/** Code points of a text in a list of such texts. */
export const LINE_CHARS = 1000;
/** Code points of a text that serves only as a reminder. */
export const EXCERPT_CHARS = 80;
/** Lines of one list; programs get the rest. */
const LISTED_LINES = 50;
/** Days after which a date says more than an age. */
const AGE_DAYS = 14;
/** Scope, states and kinds of knowledge that are not mentioned. */
const PLAIN_SCOPE: Scope = "personal";
const PLAIN_STATES: readonly LifecycleState[] = ["tentative", "stable"];
const PLAIN_KINDS: readonly EpistemicType[] = ["observed", "asserted"];
/** Below this confidence, it is mentioned. */
const DOUBTFUL = 0.5;

/** A text as one line, cut after this many code points. */
export function oneLine(text: string, maxChars: number): string {
  // The start of a long text is enough, whatever blanks it has.
  const line = text
    .slice(0, maxChars * 4)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const points = [...line];
  const isCut = points.length > maxChars || text.length > maxChars * 4;
  return isCut ? `${points.slice(0, maxChars).join("")}…` : line;
}

/** A text with its line breaks, which must therefore come last; terminal control characters are replaced. */
export function complete(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "\ufffd");
}

/** A value as JSON on one line: exact, and without the two line separators that JSON itself allows. */
export function json(value: object | string): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** The name of an owner, an actor or a model: anyone may choose it, so it is kept to one line as well. */
export function name(text: string): string {
  return oneLine(text, EXCERPT_CHARS);
}

/** Date and minute in UTC, marked by its `Z`; midnight is shown as the date alone. */
export function moment(instant: Instant): string {
  const time = instant.slice(11, 16);
  return time === "00:00" ? instant.slice(0, 10) : `${instant.slice(0, 10)} ${time}Z`;
}

/** How long ago it was, in one unit; for the future, or after two weeks, the date. */
export function age(instant: Instant, now: Instant): string {
  const days = daysBetween(instant, now);
  if (days < 0 || days >= AGE_DAYS) return instant.slice(0, 10);
  const minutes = Math.floor(days * 24 * 60);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (days < 1) return `${Math.floor(days * 24)} h ago`;
  return days < 2 ? "1 day ago" : `${Math.floor(days)} days ago`;
}

/** The facts about a memory before its text. @param now if given, its age is shown, else its date */
export function aboutNode(node: MemoryNode, now?: Instant): string {
  const { nodeType, scope, epistemicType, confidence, eventTime, validTo } = node;
  const facts = [
    nodeType,
    scope === PLAIN_SCOPE ? undefined : scope,
    stateOf(node),
    PLAIN_KINDS.includes(epistemicType) ? undefined : epistemicType,
    confidence < DOUBTFUL ? `confidence ${rounded(confidence)}` : undefined,
    eventTime === undefined ? undefined : `of ${moment(eventTime)}`,
    validTo === undefined ? undefined : `valid until ${moment(validTo)}`,
    now === undefined ? `stored ${node.createdAt.slice(0, 10)}` : age(node.createdAt, now),
    `${node.sourceType}${speakerOf(node, " by ")}`,
  ];
  return facts.filter((fact) => fact !== undefined).join(", ");
}

/** The speaker, after a separator; nothing if not recorded. */
export function speakerOf(
  { metadata }: Pick<MemoryNode | MemoryEvent, "metadata">,
  joint: string,
): string {
  const speaker = storedSpeaker(metadata);
  return speaker === undefined ? "" : `${joint}${json(name(speaker))}`;
}

function stateOf({ lifecycleState, supersededBy }: MemoryNode): string | undefined {
  if (PLAIN_STATES.includes(lifecycleState)) return undefined;
  const isReplaced = lifecycleState === "superseded" && supersededBy !== undefined;
  return isReplaced ? `superseded by ${supersededBy}` : lifecycleState;
}

/** A memory as one line: id, facts, text. */
export function nodeLine(node: MemoryNode, maxChars = LINE_CHARS): string {
  return `${node.id} (${aboutNode(node)}) ${oneLine(node.content, maxChars)}`;
}

/** At most four decimals. */
export function rounded(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}

/** `1 memory`, `3 memories`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Lines of a list, at most 50, and the number of the others. */
export function listed<T>(items: readonly T[], line: (item: T, index: number) => string): string[] {
  const lines = items.slice(0, LISTED_LINES).map(line);
  const rest = items.length - lines.length;
  return rest > 0 ? [...lines, `… and ${rest} more`] : lines;
}
