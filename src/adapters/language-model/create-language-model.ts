import { AsyncLocalStorage } from "node:async_hooks";
import type { LanguageModel as SdkModel } from "ai";
import { z } from "zod";
import { providerAddress, providerHost, statusInWords } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { type FailureCode, failureOfStatus } from "../../domain/extraction/work.ts";
import type { JsonObject } from "../../lib/json.ts";
import { objectsIn, readAnswer, withoutThoughts } from "../../lib/json-answer.ts";
import { untilAborted } from "../../lib/pause.ts";
import { shellWord } from "../../lib/text.ts";
import type {
  DescribeRequest,
  LanguageModel,
  ModelRequest,
  ReadAnswer,
  TextModel,
  VisionModel,
} from "../../ports/models.ts";
import { bounded, reach } from "../network/reach.ts";

/**
 * A language model behind the AI SDK. Its client is loaded by the first question. The time limit of a request covers
 * everything: loading, lost connections with pauses between retries, and answers that are requested again.
 */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel & TextModel {
  const call = createCaller(options);
  const model: TextModel = {
    provider: options.provider,
    model: options.model,
    ask: (request, read) => call(request, (called) => ask(options, called, request, read)),
  };
  return {
    ...model,
    answer: async (request) => await model.ask(request, answerForm(request.schema)),
  };
}

async function ask<T>(
  options: LanguageModelOptions,
  called: Called,
  request: ModelRequest,
  read: ReadAnswer<T>,
): Promise<T> {
  const messages = [...(request.references ?? []), request.prompt];
  for (let tries = 1; ; tries += 1) {
    const checked = read(await complete(called, request, messages));
    if ("answer" in checked) return checked.answer;
    if (tries > request.schemaRetries) throw formMissed(options, tries);
    messages.push(
      `Your last answer was refused: ${checked.problem}. Answer the request again, as one JSON object of the stated form and nothing else.`,
    );
  }
}

/** One call; lost connections are retried within it. The text may have any form. */
async function complete(
  { model, settings }: Called,
  request: ModelRequest,
  messages: readonly string[],
): Promise<string> {
  const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import("ai");
  const { schema } = request;
  try {
    const { text } = await generateText({
      model,
      // Also stated in words: some servers with the OpenAI protocol ignore the schema.
      instructions: `${request.system}\n\nAnswer with one JSON object that fits this JSON Schema:\n${JSON.stringify(schema)}`,
      messages: messages.map((content) => ({ role: "user", content })),
      output: Output.object({ schema: jsonSchema(schema) }),
      temperature: request.temperature,
      ...settings,
    });
    return text;
  } catch (error) {
    if (NoObjectGeneratedError.isInstance(error)) return error.text ?? "";
    throw error;
  }
}

/** A valid answer, or the objection to an invalid one for the model. */
type Checked = { readonly answer: JsonObject } | { readonly problem: string };

const MAX_PROBLEMS = 5;

/**
 * Checks answers against a JSON Schema. The object may be surrounded by reasoning, prose, a code fence or a wrapper, as from small models.
 * @throws Error if the schema itself cannot be read
 */
function answerForm(schema: JsonObject): (text: string) => Checked {
  const form = z.fromJSONSchema(schema);
  return (text) => {
    const answer = readAnswer(text, (json) => (form.safeParse(json).success ? json : undefined));
    if (answer !== undefined) return { answer };
    const [first, ...more] = objectsIn(text);
    if (first === undefined) return { problem: "it is not one JSON object" };
    if (more.length > 0) return { problem: "it has several JSON objects" };
    const issues = form.safeParse(first).error?.issues.slice(0, MAX_PROBLEMS) ?? [];
    const lines = issues.map(({ path, message }) => `${path.join(".") || "answer"}: ${message}`);
    return { problem: lines.join("; ") };
  };
}

/** UTF-16 units. A model that writes more is repeating itself. */
const MAX_CHARS = 65_536;
/** Bytes of one answer: its characters, escaped, and the server's envelope. */
const MAX_BYTES = 1024 * 1024;

/**
 * A model that describes pictures, behind the AI SDK. The picture is a part of the message. Its client is loaded by the first
 * picture; the time limit of a call covers everything.
 */
export function createVisionModel(options: LanguageModelOptions): VisionModel {
  const call = createCaller(options, MAX_BYTES);
  const { provider, model } = options;
  return {
    modelName: `${provider}/${model}`,
    describe: async (request) => {
      const text = await call(request, (called) => describe(called, request)).catch((error) => {
        throw asVisionError(error, options);
      });
      const description = withoutThoughts(text).trim();
      const isUsable = description !== "" && description.length <= MAX_CHARS;
      if (isUsable) return description;
      const what = description === "" ? "no description" : `more than ${MAX_CHARS} characters`;
      throw new SvcError("vision_failed", `${provider} (${model}) answered with ${what}`, {
        provider,
        model,
      });
    },
  };
}

async function describe({ model, settings }: Called, request: DescribeRequest): Promise<string> {
  const { generateText } = await import("ai");
  const { image, mediaType, prompt } = request;
  const { text } = await generateText({
    model,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: prompt },
          { type: "file", data: image, mediaType },
        ],
      },
    ],
    // The same picture gets the same description, as far as the provider can.
    temperature: 0,
    seed: 0,
    ...settings,
  });
  return text;
}

function asVisionError(error: unknown, options: LanguageModelOptions): unknown {
  if (!(error instanceof SvcError)) return error;
  const { message, data, cause } = error;
  return new SvcError("vision_failed", message + remedyOf(cause, options), data, { cause });
}

/** Hint for a server that a user runs. */
function remedyOf(cause: unknown, { provider, model, baseUrl }: LanguageModelOptions): string {
  const name = cause instanceof Error ? cause.name : "";
  if (provider !== "ollama") return "";
  if (name === "NotFoundError") return `; get it with: ollama pull ${shellWord(model)}`;
  if (name !== "APIConnectionError") return "";
  return ` (${providerHost(provider, baseUrl)}); start it with: ollama serve, or set SVC_VISION__BASE_URL or SVC_VISION__PROVIDER`;
}

const TRANSPORT_RETRIES = 2;
/** Bytes of one answer; the longest useful ones have a few million. */
const ANSWER_BYTES = 16 * 1024 * 1024;

type Bounds = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined };

/** What a call gets from its provider: the model, and the settings of every request to it. */
type Called = Pick<LoadedProvider, "model"> & {
  readonly settings: LoadedProvider["settings"] & {
    readonly maxRetries: number;
    readonly abortSignal: AbortSignal;
  };
};

/** Calls a model. @throws SvcError model_failed, model_timeout, without the texts that the errors of the library carry */
type CallModel = <T>(bounds: Bounds, call: (called: Called) => Promise<T>) => Promise<T>;

/**
 * A model behind the AI SDK. Its client is loaded by the first call. The time limit of a call covers everything: loading, retries and
 * pauses. If it ends in a pause, the last failure is reported.
 * @param maxBytes of one answer
 */
function createCaller(options: LanguageModelOptions, maxBytes = ANSWER_BYTES): CallModel {
  let loaded: Promise<LoadedProvider> | undefined;
  return async (bounds, call) => {
    bounds.signal?.throwIfAborted();
    if (options.provider !== "ollama" && options.apiKey === undefined) throw keyMissing(options);
    const deadline = AbortSignal.timeout(bounds.timeoutMs);
    const signal = AbortSignal.any([
      deadline,
      ...(bounds.signal === undefined ? [] : [bounds.signal]),
    ]);
    loaded ??= loadProvider(options);
    const watch: Watch = { maxBytes, failure: undefined };
    try {
      const { model, settings } = await loaded;
      // By default the library prints its warnings to standard output, which belongs to the protocol.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      const maxRetries = options.transportRetries ?? TRANSPORT_RETRIES;
      const called = { model, settings: { ...settings, maxRetries, abortSignal: signal } };
      const answer = watched(watch, () => call(called));
      return await untilAborted(answer, signal);
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (error instanceof SvcError) throw error;
      const known = watch.failure;
      if (deadline.aborted) throw timedOut(options, bounds.timeoutMs, known, maxBytes);
      throw callFailed(options, known ?? (await failureOf(error)), maxBytes);
    }
  };
}

async function failureOf(error: unknown): Promise<CallFailure> {
  const { APICallError, RetryError } = await import("ai");
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (APICallError.isInstance(last)) return last.statusCode ?? "unreachable";
  return { name: last instanceof Error ? last.name : "unknown failure" };
}

/** The hosted services, or a server on this network with the OpenAI protocol, such as Ollama. */
export const LANGUAGE_MODEL_PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type LanguageModelProvider = (typeof LANGUAGE_MODEL_PROVIDERS)[number];

type ReasoningEffort = "none" | "low" | "medium" | "high";

export type LanguageModelOptions = {
  readonly provider: LanguageModelProvider;
  readonly model: string;
  /** If undefined, a hosted provider rejects every call without using the network; `ollama` needs none. */
  readonly apiKey?: string | undefined;
  /** Default: the provider's own address, and `http://localhost:11434/v1` for `ollama`. */
  readonly baseUrl?: string | undefined;
  /** Undefined: not sent, and `none` for `ollama`. Never sent to `anthropic`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** Retries after a lost connection and status 408, 409, 429 and 5xx. Default 2. */
  readonly transportRetries?: number | undefined;
};

/** A provider's client, ready for calls. */
type LoadedProvider = {
  readonly model: SdkModel;
  /** Additional settings of every call to this provider. */
  readonly settings: {
    readonly providerOptions?: Record<string, Record<string, string>>;
    readonly maxOutputTokens?: number;
  };
};

/** The protocol of `anthropic` requires a limit. */
const ANTHROPIC_MAX_TOKENS = 4096;

/** Loads the client of one provider. Each is its own module, and none is loaded before the first question. */
async function loadProvider(options: LanguageModelOptions): Promise<LoadedProvider> {
  const { provider, model, reasoningEffort } = options;
  // Always pass both: otherwise the clients would read the environment themselves.
  const baseURL = providerAddress(provider, options.baseUrl);
  const apiKey = options.apiKey ?? "";
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return {
        model: createOpenAI({ apiKey, baseURL, fetch: boundedFetch }).chat(model),
        settings:
          reasoningEffort === undefined ? {} : { providerOptions: { openai: { reasoningEffort } } },
      };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return {
        model: createAnthropic({ apiKey, baseURL, fetch: boundedFetch }).languageModel(model),
        settings: { maxOutputTokens: ANTHROPIC_MAX_TOKENS },
      };
    }
    case "ollama": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const client = createOpenAICompatible({
        name: "ollama",
        baseURL,
        supportsStructuredOutputs: true,
        fetch: boundedFetch,
        ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      });
      return {
        model: client.chatModel(model),
        // Without it, reasoning models spend the time limit on unread reasoning.
        settings: { providerOptions: { ollama: { reasoningEffort: reasoningEffort ?? "none" } } },
      };
    }
  }
}

/** How a model call may end, and its current state. */
type Watch = {
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** Why the last request failed; undefined while it runs, and after success. */
  failure: RequestFailure | undefined;
};

/** An unsuccessful HTTP status; a failed connection; an oversized answer. */
type RequestFailure = number | "unreachable" | "oversized";
/** Why a call failed, without the texts in the library's errors: else the name of its error. */
type CallFailure = RequestFailure | { readonly name: string };

const watches = new AsyncLocalStorage<Watch>();

/** Lists and objects of one answer. */
const MAX_OPENINGS = 100_000;

/** Calls a model. Its requests, including retries, are bounded and recorded by `watch`. */
function watched<T>(watch: Watch, call: () => Promise<T>): Promise<T> {
  return watches.run(watch, call);
}

/**
 * The fetch used by providers' client libraries: oversized answers fail, and redirects are not followed, since they would take text and key
 * to an address that was not configured.
 */
const boundedFetch: typeof fetch = Object.assign(
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const watch = watches.getStore();
    if (watch === undefined) throw new Error("a request came past its watch");
    watch.failure = undefined;
    const response = await reach(input, { ...init, redirect: "manual" }).catch((error) => {
      if (init?.signal?.aborted !== true) watch.failure = "unreachable";
      throw error;
    });
    if (!response.ok) watch.failure = response.status;
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const bounds = { bytes: watch.maxBytes, openings: MAX_OPENINGS };
    const body = bounded(response.body, bounds, () => {
      // The status of a failed answer suffices.
      watch.failure ??= "oversized";
    });
    return new Response(body, { status, statusText, headers });
  },
  { preconnect: fetch.preconnect },
);

/** The error of a failed call. The library's own error is left out: it contains prompt, answer and headers. */
function callFailed(
  options: LanguageModelOptions,
  failure: CallFailure,
  maxBytes: number,
): SvcError {
  const { provider, model } = options;
  const status = typeof failure === "number" ? { status: failure } : {};
  return new SvcError(
    "model_failed",
    `${provider} (${model}) ${explain(failure, maxBytes)}`,
    { provider, model, ...status },
    { cause: causeOf(failure) },
  );
}

/** Callers branch on the names of causes. */
function named(name: FailureCode): Error {
  return Object.assign(new Error(name), { name });
}

function causeOf(failure: CallFailure): Error | undefined {
  if (typeof failure === "number") return named(failureOfStatus(failure) ?? "ValidationError");
  if (failure === "oversized") return named("ValidationError");
  return failure === "unreachable" ? named("APIConnectionError") : undefined;
}

function explain(failure: CallFailure, maxBytes: number): string {
  if (typeof failure === "number") return statusInWords(failure);
  if (failure === "unreachable") return "cannot be reached: check the network and the address";
  if (failure !== "oversized") return `could not answer (${failure.name})`;
  return `answered with far more than was asked for (more than ${maxBytes} bytes, or too many lists); what it sent was not read`;
}

function keyMissing({ provider, model }: LanguageModelOptions): SvcError {
  return new SvcError(
    "model_failed",
    `${provider} needs a key: set the api_key of its settings, or ${provider.toUpperCase()}_API_KEY`,
    { provider, model },
    { cause: named("AuthenticationError") },
  );
}

/** No answer had the requested form. */
function formMissed({ provider, model }: LanguageModelOptions, tries: number): SvcError {
  const times = tries === 1 ? "once" : `${tries} times`;
  return new SvcError(
    "model_failed",
    `${provider} (${model}) answered ${times}, but not in the requested form; a larger model may help`,
    { provider, model },
    { cause: named("ValidationError") },
  );
}

/** No answer within the limit. @param failure why the last request had failed, before a retry; undefined: it was still running */
function timedOut(
  { provider, model }: LanguageModelOptions,
  timeoutMs: number,
  failure: CallFailure | undefined,
  maxBytes: number,
): SvcError {
  const what =
    failure === undefined
      ? `did not answer within ${timeoutMs / 1000} seconds`
      : explain(failure, maxBytes);
  return new SvcError(
    "model_timeout",
    `${provider} (${model}) ${what}`,
    { provider, model },
    { cause: (failure === undefined ? undefined : causeOf(failure)) ?? named("TimeoutError") },
  );
}
