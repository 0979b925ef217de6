import type { EarlierTurn, Turn } from "../../domain/extraction/passages.ts";
import type { ShownText } from "../../domain/extraction/plan/claims.ts";
import { FACT_TYPES, STATED_TYPES } from "../../domain/extraction/result.ts";
import { beginsWithSpeaker } from "../../domain/speaker.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
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

const TEXT: JsonObject = { type: "string" };
const TEXT_OR_NULL: JsonObject = { anyOf: [{ type: "string" }, { type: "null" }] };
const POLARITY: JsonObject = { type: "string", enum: ["positive", "negative"] };
const KNOWLEDGE: JsonObject = { type: "string", enum: [...STATED_TYPES] };

/** An object of which every member is required: servers that hold a model to a schema allow no others. */
function closed(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

const FACT: JsonObject = {
  subject: TEXT,
  predicate: TEXT,
  object: TEXT,
  polarity: POLARITY,
  evidence_quote: TEXT,
  confidence: { type: "number" },
  fact_type: { type: "string", enum: [...FACT_TYPES] },
  epistemic_type: KNOWLEDGE,
  condition: TEXT_OR_NULL,
  temporal_ref: TEXT_OR_NULL,
  temporal_intent: TEXT_OR_NULL,
  replaces_object: TEXT_OR_NULL,
  quantity: {
    anyOf: [closed({ value: TEXT, unit: TEXT, source_text: TEXT }), { type: "null" }],
  },
};

/** @param more members of a fact that only some requests ask for */
function stated(more: JsonObject): JsonObject {
  return {
    entities: listOf(closed({ name: TEXT, entity_type: TEXT, description: TEXT_OR_NULL })),
    facts: listOf(closed({ ...FACT, ...more })),
    relationships: listOf(
      closed({
        source_entity: TEXT,
        relationship_type: TEXT,
        target_entity: TEXT,
        polarity: POLARITY,
        evidence_quote: TEXT,
        epistemic_type: KNOWLEDGE,
        condition: TEXT_OR_NULL,
      }),
    ),
  };
}

/** The form of an answer to one turn. A model is held to it; what it returns is read more leniently. */
function singleSchema(): JsonObject {
  return closed({ ...stated({}), summary: TEXT_OR_NULL });
}

/** The form of an answer to several turns. @param labels of the memories that they may correct */
function batchSchema(labels: readonly string[]): JsonObject {
  const label = { anyOf: [{ type: "string", enum: [...labels] }, { type: "null" }] };
  const more = labels.length > 0 ? { replaces_memory: label } : {};
  return closed({ turns: listOf(closed({ turn: { type: "integer" }, ...stated(more) })) });
}

/** Hexadecimal digits of a name that no text has. */
const SUFFIX_CHARS = 6;

/**
 * A name for the tag around texts, so that none of them can end its own, or begin another one: the plain name, unless a text has
 * something that looks like such a tag; then with a suffix that no text has. The same texts get the same name.
 */
function tagFor(name: string, texts: readonly string[]): string {
  const plain = texts.map(readable);
  const looksLikeTag = new RegExp(`[<‹〈《«]\\s*[/\\\\]?\\s*${name}`, "i");
  if (!plain.some((text) => looksLikeTag.test(text))) return name;
  for (let round = 0; ; round += 1) {
    const digest = sha256Hex(JSON.stringify([round, ...texts]));
    const tag = `${name}-${digest.slice(0, SUFFIX_CHARS)}`;
    if (!plain.some((text) => text.toLowerCase().includes(tag))) return tag;
  }
}

/** A text as a model may read it: wide and styled letters as plain ones, without characters that are not seen. */
function readable(text: string): string {
  return text.normalize("NFKC").replace(/\p{Cf}/gu, "");
}

/** A text between tags, or as the value of one of their attributes: it cannot end them. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A text that cannot begin a line of its own. */
function onOneLine(text: string): string {
  return text.replace(/[\s\u0085\p{Cc}]+/gu, " ").trim();
}
