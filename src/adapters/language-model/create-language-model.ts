import { z } from "zod";
import { providerHost } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import type { JsonObject } from "../../lib/json.ts";
import { objectsIn, readAnswer, withoutThoughts } from "../../lib/json-answer.ts";
import { shellWord } from "../../lib/text.ts";
import type {
  DescribeRequest,
  LanguageModel,
  ModelRequest,
  ReadAnswer,
  TextModel,
  VisionModel,
} from "../../ports/models.ts";
import { type Called, createCaller, formMissed, type LanguageModelOptions } from "./call-model.ts";

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
