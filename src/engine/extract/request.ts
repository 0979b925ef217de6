import type { ShownText } from "../../domain/extraction/corrections.ts";
import type { EarlierTurn, Turn } from "../../domain/extraction/turn.ts";
import { beginsWithSpeaker } from "../../domain/speaker.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import { batchSchema, singleSchema } from "./answer-schema.ts";
import { escaped, onOneLine, tagFor } from "./fence.ts";
import { EXTRACTION_2 } from "./prompts/extraction-2.ts";

/** The prompts that are in use. Every record names them. */
const PROMPTS = EXTRACTION_2;
export const PROMPT_VERSION: string = PROMPTS.version;

/** What a model is asked. */
export type ExtractionRequest = {
  /** Its task; never words of a turn. */
  readonly system: string;
  /** Messages before the prompt, as data that helps to read it. */
  readonly references: readonly string[];
  /** The turns, verbatim. */
  readonly prompt: string;
  readonly schema: JsonObject;
};

/** The request for one turn alone. */
export function singleRequest(turn: Turn): ExtractionRequest {
  const { window = [] } = turn.reading ?? {};
  const task = [
    ...(turn.role === "assistant"
      ? [PROMPTS.assistant]
      : [PROMPTS.general, `What counts:\n- ${policyOf(turn.role)}`]),
    PROMPTS.single,
    ...(window.length > 0 ? [PROMPTS.window] : []),
    ...(turn.role === "assistant" ? [] : [examplesFor([turn])]),
  ];
  const earlier = window.map((said, index) => `${index + 1}. ${onOneLine(spoken(said))}`);
  const { headings } = PROMPTS;
  return {
    system: task.join("\n\n"),
    references: earlier.length > 0 ? [[headings.window, ...earlier].join("\n")] : [],
    prompt: turn.content,
    schema: singleSchema(),
  };
}

/**
 * The request for several turns of one conversation, oldest first. Their indices are their places, from 1.
 * @param memories that its turns may correct
 */
export function batchRequest(
  turns: readonly Turn[],
  memories: readonly ShownText[] = [],
): ExtractionRequest {
  const policies = [...new Set(turns.map(({ role }) => policyOf(role)))];
  const tag = tagFor(
    "turn",
    turns.map(({ content }) => content),
  );
  const task = [
    PROMPTS.general,
    `What counts, by role:\n${policies.map((policy) => `- ${policy}`).join("\n")}`,
    PROMPTS.batch.replaceAll("TAG", tag),
    ...(memories.length > 0 ? [PROMPTS.corrections] : []),
    examplesFor(turns),
  ];
  const shown = memories.map(
    ({ label, text, at, turns: places }) =>
      `<memory label="${label}" date="${at.slice(0, 10)}" turns="${places.join(",")}">${escaped(onOneLine(text))}</memory>`,
  );
  return {
    system: task.join("\n\n"),
    references: shown.length > 0 ? [[PROMPTS.headings.memories, ...shown].join("\n")] : [],
    prompt: turns.map((turn, index) => tagged(turn, index + 1, tag)).join("\n"),
    schema: batchSchema(memories.map(({ label }) => label)),
  };
}

/** SHA-256 of the messages of a request: the same one is kept once. */
export function requestSha256({ system, references, prompt }: ExtractionRequest): string {
  const messages = [
    { role: "system", content: system },
    ...[...references, prompt].map((content) => ({ role: "user", content })),
  ];
  return sha256Hex(JSON.stringify(messages));
}

function policyOf(role: string): string {
  const { roles } = PROMPTS;
  switch (role) {
    case "user":
    case "human":
      return roles.user;
    case "assistant":
    case "system":
    case "tool":
      return roles[role];
    default:
      return roles.other;
  }
}

/** Examples in the languages of the turns: all, or the first of each if there are several. One entry is the same in both kinds of answer. */
function examplesFor(turns: readonly Turn[]): string {
  const languages = new Set<string>(turns.map(({ language }) => language));
  const { examples } = PROMPTS;
  const shown = examples.filter(
    ({ language }, at) =>
      language === "any" ||
      (languages.has(language) &&
        (languages.size === 1 || examples.findIndex((one) => one.language === language) === at)),
  );
  const texts = shown.map(({ text, answer }) => `Text: ${text}\nEntry: ${answer}`);
  return [PROMPTS.examplesHeading, ...texts].join("\n\n");
}

/** A turn with who said it, unless its text begins with that already. */
export function spoken({ content, speaker }: EarlierTurn): string {
  const isNamed = speaker === undefined || beginsWithSpeaker(content, speaker);
  return isNamed ? content : `${speaker}: ${content}`;
}

/** A turn with what is known about it, to the minute. Its text stays as it is. */
function tagged({ role, at, speaker, content }: Turn, index: number, tag: string): string {
  const attributes = [
    `index="${index}"`,
    `role="${escaped(role)}"`,
    `time="${at.slice(0, 16)}Z"`,
    ...(speaker === undefined ? [] : [`speaker="${escaped(speaker)}"`]),
  ];
  return `<${tag} ${attributes.join(" ")}>\n${content}\n</${tag}>`;
}
