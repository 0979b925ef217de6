import { SvcError } from "../../domain/errors.ts";
import type { EarlierTurn, Turn } from "../../domain/extraction/passages.ts";
import type { ShownText } from "../../domain/extraction/plan/claims.ts";
import {
  type BatchAnswer,
  type ReadTurn,
  readBatchAnswer,
  readSingleAnswer,
} from "../../domain/extraction/read-answer.ts";
import { FACT_TYPES, STATED_TYPES } from "../../domain/extraction/result.ts";
import type { FailureCode } from "../../domain/extraction/work.ts";
import { beginsWithSpeaker } from "../../domain/speaker.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { ReadAnswer, TextModel } from "../../ports/models.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { ExtractionQueue } from "../../ports/store/work.ts";
import type { Gate } from "../concurrency.ts";
import type { EngineDeps } from "../deps.ts";
import type {
  ExtractionProvider,
  ExtractionSettings,
  ProviderMemory,
  ProviderTurn,
} from "./api.ts";
import { EXTRACTION_2 } from "./prompts/extraction-2.ts";

export type ExtractDeps = Pick<
  EngineDeps<ExtractionQueue & SearchIndex>,
  "store" | "clock" | "tokenizer" | "dates" | "embedder" | "warn"
> & {
  readonly extractor: Extractor;
  readonly settings: ExtractionSettings & Pick<EngineDeps["settings"], "confidenceOverrides">;
  /** Limits requests to the model. */
  readonly gate: Gate;
};

export type JobOptions = {
  /** Highest order of turns in a request. */
  readonly upTo: number | undefined;
  /** Turns per request. Absent: as many as fit. */
  readonly maxTurns?: number | undefined;
  readonly signal: AbortSignal;
};

type ExtractorSettings = {
  /** Milliseconds for a single turn. */
  readonly timeoutMs: number;
  /** Milliseconds for a request of several turns. */
  readonly batchTimeoutMs: number;
  /** Retries for one turn after an unreadable answer; several turns are asked in halves instead. */
  readonly maxRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
};

/** Asks the model what turns state. The answer is parsed, not yet checked. */
export type Extractor = {
  /** Named in records. */
  readonly provider: string;
  readonly model: string;
  readonly promptVersion: string;
  /** Whether answers about one turn are only checked for grounding, not by all rules. */
  readonly isTrusted: boolean;
  /** @throws SvcError model_failed; model_timeout */
  one(turn: Turn, signal?: AbortSignal): Promise<ReadTurn>;
  /** Turns of one conversation, oldest first, and memories that they may correct. @throws as `one` */
  several(
    turns: readonly Turn[],
    signal?: AbortSignal,
    memories?: readonly ShownText[],
  ): Promise<BatchAnswer>;
};

export function createExtractor(model: TextModel, settings: ExtractorSettings): Extractor {
  const { timeoutMs, batchTimeoutMs, maxRetries, temperature } = settings;
  return {
    provider: model.provider,
    model: model.model,
    promptVersion: PROMPT_VERSION,
    isTrusted: false,
    one: async (turn, signal) => {
      const limits = { timeoutMs, schemaRetries: maxRetries, temperature, signal };
      return await model.ask({ ...singleRequest(turn), ...limits }, reading(readSingleAnswer));
    },
    several: async (turns, signal, memories) => {
      const request: ExtractionRequest = batchRequest(turns, memories);
      const limits = {
        timeoutMs: batchTimeoutMs,
        schemaRetries: turns.length === 1 ? maxRetries : 0,
        temperature,
        signal,
      };
      return await model.ask(
        { ...request, ...limits },
        reading((text) => readBatchAnswer(text, turns.length)),
      );
    },
  };
}

/** Sent to the model after an unreadable answer. */
const UNREADABLE = "it is not one complete JSON object of the stated form";

function reading<T>(read: (text: string) => T | undefined): ReadAnswer<T> {
  return (text) => {
    const answer = read(text);
    return answer === undefined ? { problem: UNREADABLE } : { answer };
  };
}

type CustomSettings = Pick<
  ExtractionSettings,
  | "timeoutMs"
  | "batchTimeoutMs"
  | "maxRetries"
  | "speakerGrounding"
  | "batchTargetTokens"
  | "windowTurns"
  | "corrections"
>;

/** Asks a provider of the host program; its answers are parsed from JSON text like all others. @throws SvcError invalid_config */
export function createCustomExtractor(
  provider: ExtractionProvider,
  settings: CustomSettings,
): Extractor {
  requireWhole(provider, settings);
  const { maxRetries, timeoutMs, batchTimeoutMs } = settings;
  return {
    provider: provider.providerName,
    model: provider.modelName,
    promptVersion: "custom",
    isTrusted: true,
    one: async (turn, signal) =>
      await within(timeoutMs, signal, (end) => {
        const about = { ...aboutOf(turn, settings), signal: end };
        return firstRead(
          maxRetries + 1,
          () => provider.extract(turn.content, about),
          (text) => readSingleAnswer(text, { isCustom: true }),
        );
      }),
    several: async (turns, signal, memories = []) =>
      await within(batchTimeoutMs, signal, (end) =>
        firstRead(
          turns.length === 1 ? maxRetries + 1 : 1,
          async () =>
            provider.extractBatch?.(turns.map(toProviderTurn), {
              ...(settings.corrections && { memories: memories.map(toProviderMemory) }),
              signal: end,
            }),
          (text) => readBatchAnswer(text, turns.length),
        ),
      ),
  };
}

function requireWhole(provider: ExtractionProvider, { batchTargetTokens }: CustomSettings): void {
  for (const name of ["providerName", "modelName"] as const) {
    if (typeof provider[name] !== "string" || provider[name].trim() === "") {
      throw unusable(`${name} must be a name that is not blank`);
    }
  }
  if (typeof provider.extract !== "function") throw unusable("extract must be a function");
  if (batchTargetTokens > 0 && typeof provider.extractBatch !== "function") {
    throw unusable("extractBatch is missing; add it, or set extraction_batch_target_tokens to 0");
  }
}

function unusable(reason: string): SvcError {
  return new SvcError("invalid_config", `extractionProvider: ${reason}`, {
    setting: "extractionProvider",
  });
}

async function firstRead<T>(
  tries: number,
  ask: () => Promise<unknown>,
  read: (text: string) => T | undefined,
): Promise<T> {
  for (let left = tries; left > 0; left -= 1) {
    const answer = read(textOf(await ask()));
    if (answer !== undefined) return answer;
  }
  throw failed("ValidationError", "the provider's answers have not the stated form");
}

/** Unreadable if it has no JSON form, such as a cycle. */
function textOf(answer: unknown): string {
  try {
    return JSON.stringify(answer) ?? "";
  } catch {
    return "";
  }
}

async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  ask: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const end = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void =>
      reject(
        signal?.aborted === true
          ? signal.reason
          : failed(
              "TimeoutError",
              `the provider did not answer within ${timeoutMs / 1000} seconds`,
            ),
      );
    if (end.aborted) onAbort();
    end.addEventListener("abort", onAbort, { once: true });
    ask(end)
      .then(resolve, reject)
      .finally(() => end.removeEventListener("abort", onAbort));
  });
}

function failed(name: FailureCode, message: string): SvcError {
  const code = name === "TimeoutError" ? "model_timeout" : "model_failed";
  return new SvcError(code, message, {}, { cause: Object.assign(new Error(name), { name }) });
}

function toProviderTurn({ role, content, speaker, at }: Turn, index: number): ProviderTurn {
  return { index: index + 1, role, content, ...(speaker !== undefined && { speaker }), time: at };
}

function toProviderMemory({ label, text, at, turns }: ShownText): ProviderMemory {
  return { label, text, time: at, turns };
}

/** The message for a turn that is asked alone. */
function aboutOf(
  { role, speaker, reading }: Turn,
  { speakerGrounding, windowTurns }: CustomSettings,
): Omit<Parameters<ExtractionProvider["extract"]>[1], "signal"> {
  const { window = [] } = reading ?? {};
  return {
    role,
    ...(speakerGrounding && { speaker }),
    ...(windowTurns > 0 && { context: window.map((earlier) => spoken(earlier)) }),
  };
}

/** Named in every record. */
const PROMPTS = EXTRACTION_2;
export const PROMPT_VERSION: string = PROMPTS.version;

type ExtractionRequest = {
  /** The task; never words of a turn. */
  readonly system: string;
  /** Context messages before the prompt. */
  readonly references: readonly string[];
  /** The turns, verbatim. */
  readonly prompt: string;
  readonly schema: JsonObject;
};

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

/** Several turns of one conversation, oldest first, indexed from 1. @param memories that they may correct */
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

/** SHA-256 of the messages: equal requests are kept once. */
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

/** All examples in the language of the turns; if there are several languages, the first of each. */
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

/** With the speaker, unless the text begins with one. */
function spoken({ content, speaker }: EarlierTurn): string {
  const isNamed = speaker === undefined || beginsWithSpeaker(content, speaker);
  return isNamed ? content : `${speaker}: ${content}`;
}

/** A turn in a tag with its attributes. */
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

/** All members are required, as servers with strict schemas demand. */
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
  quantity: { anyOf: [closed({ value: TEXT, unit: TEXT, source_text: TEXT }), { type: "null" }] },
};

/** @param more members that only some requests ask for */
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

/** Answers are parsed more leniently than this. */
function singleSchema(): JsonObject {
  return closed({ ...stated({}), summary: TEXT_OR_NULL });
}

/** @param labels of memories that may be corrected */
function batchSchema(labels: readonly string[]): JsonObject {
  const label = { anyOf: [{ type: "string", enum: [...labels] }, { type: "null" }] };
  const more = labels.length > 0 ? { replaces_memory: label } : {};
  return closed({ turns: listOf(closed({ turn: { type: "integer" }, ...stated(more) })) });
}

/** Hexadecimal digits. */
const SUFFIX_CHARS = 6;

/** A tag name that no text can open or close: the plain one, or one with a suffix if a text resembles it. Deterministic. */
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

/** Text as a model may read it: compatibility forms, no invisible characters. */
function readable(text: string): string {
  return text.normalize("NFKC").replace(/\p{Cf}/gu, "");
}

/** For text between tags or in an attribute. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function onOneLine(text: string): string {
  return text.replace(/[\s\u0085\p{Cc}]+/gu, " ").trim();
}
