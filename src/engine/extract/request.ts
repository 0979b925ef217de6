import type { Turn } from "../../domain/extraction/turn.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import { BATCH_SCHEMA, SINGLE_SCHEMA } from "./answer-schema.ts";
import { EXTRACTION_1 } from "./prompts/extraction-1.ts";

/** The prompts that are in use. Every record names them. */
const PROMPTS = EXTRACTION_1;
export const PROMPT_VERSION: string = PROMPTS.version;

/** What a model is asked. */
export type ExtractionRequest = {
  /** Its task; never words of a turn. */
  readonly system: string;
  /** The turns, verbatim. */
  readonly prompt: string;
  readonly schema: JsonObject;
};

/** The request for one turn alone. */
export function singleRequest(turn: Turn): ExtractionRequest {
  const task =
    turn.role === "assistant"
      ? `${PROMPTS.assistant}\n\n${PROMPTS.single}`
      : `${PROMPTS.general}\n\nWhat counts:\n- ${policyOf(turn.role)}\n\n${PROMPTS.single}\n\n${examples()}`;
  return { system: task, prompt: turn.content, schema: SINGLE_SCHEMA };
}

/** The request for several turns of one conversation, oldest first. Their indices are their places, from 1. */
export function batchRequest(turns: readonly Turn[]): ExtractionRequest {
  const policies = [...new Set(turns.map(({ role }) => policyOf(role)))];
  return {
    system: `${PROMPTS.general}\n\nWhat counts, by role:\n${policies.map((policy) => `- ${policy}`).join("\n")}\n\n${PROMPTS.batch}\n\n${examples()}`,
    prompt: turns.map((turn, index) => tagged(turn, index + 1)).join("\n"),
    schema: BATCH_SCHEMA,
  };
}

/** SHA-256 of the messages of a request: the same one is kept once. */
export function requestSha256({ system, prompt }: ExtractionRequest): string {
  const messages = [
    { role: "system", content: system },
    { role: "user", content: prompt },
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

/** An example shows one entry: the same in both kinds of answer. */
function examples(): string {
  return PROMPTS.examples.map(({ text, answer }) => `Text: ${text}\nEntry: ${answer}`).join("\n\n");
}

/** A turn with what is known about it, to the minute. Its text stays as it is. */
function tagged({ role, at, speaker, content }: Turn, index: number): string {
  const attributes = [
    `index="${index}"`,
    `role="${escaped(role)}"`,
    `time="${at.slice(0, 16)}Z"`,
    ...(speaker === undefined ? [] : [`speaker="${escaped(speaker)}"`]),
  ];
  return `<turn ${attributes.join(" ")}>\n${content}\n</turn>`;
}

function escaped(value: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
