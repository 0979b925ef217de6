import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/until-aborted.ts";
import type {
  LanguageModel,
  ModelRequest,
  ReadAnswer,
  TextModel,
} from "../../ports/language-model.ts";
import { answerForm } from "./answer-form.ts";
import { callFailed, formMissed, keyMissing, timedOut } from "./failures.ts";
import { type LoadedProvider, loadProvider } from "./load-provider.ts";
import type { LanguageModelOptions } from "./options.ts";

const TRANSPORT_RETRIES = 2;

/**
 * A language model behind the AI SDK. Its client is loaded by the first question. The time limit of a request covers
 * everything: loading, lost connections with pauses between retries, and answers that are requested again.
 */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel & TextModel {
  let loaded: Promise<LoadedProvider> | undefined;
  const model: TextModel = {
    provider: options.provider,
    model: options.model,
    ask: async (request, read) => {
      request.signal?.throwIfAborted();
      if (options.provider !== "ollama" && options.apiKey === undefined) throw keyMissing(options);
      const deadline = AbortSignal.timeout(request.timeoutMs);
      const signal =
        request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
      loaded ??= loadProvider(options);
      try {
        return await untilAborted(ask(options, await loaded, request, read, signal), signal);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (deadline.aborted) throw timedOut(options, request.timeoutMs);
        throw error instanceof SvcError ? error : callFailed(options, await failureOf(error));
      }
    },
  };
  return {
    ...model,
    answer: async (request) => await model.ask(request, answerForm(request.schema)),
  };
}

async function ask<T>(
  options: LanguageModelOptions,
  provider: LoadedProvider,
  request: ModelRequest,
  read: ReadAnswer<T>,
  signal: AbortSignal,
): Promise<T> {
  const messages = [...(request.references ?? []), request.prompt];
  for (let tries = 1; ; tries += 1) {
    const checked = read(await complete(options, provider, request, messages, signal));
    if ("answer" in checked) return checked.answer;
    if (tries > request.schemaRetries) throw formMissed(options, tries);
    messages.push(
      `Your last answer was refused: ${checked.problem}. Answer the request again, as one JSON object of the stated form and nothing else.`,
    );
  }
}

/** One call; lost connections are retried within it. The text may have any form. */
async function complete(
  options: LanguageModelOptions,
  provider: LoadedProvider,
  request: ModelRequest,
  messages: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await import("ai");
  // By default the library prints its warnings to standard output, which belongs to the protocol.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { schema } = request;
  try {
    const { text } = await generateText({
      model: provider.model,
      // Also stated in words: not every server with the OpenAI protocol honours the schema.
      instructions: `${request.system}\n\nAnswer with one JSON object that fits this JSON Schema:\n${JSON.stringify(schema)}`,
      messages: messages.map((content) => ({ role: "user", content })),
      output: Output.object({ schema: jsonSchema(schema) }),
      temperature: request.temperature,
      maxRetries: options.transportRetries ?? TRANSPORT_RETRIES,
      ...provider.settings,
      abortSignal: signal,
    });
    return text;
  } catch (error) {
    if (NoObjectGeneratedError.isInstance(error)) return error.text ?? "";
    throw error;
  }
}

/** What failed, without the texts that the library's errors carry. */
async function failureOf(error: unknown) {
  const { APICallError, RetryError } = await import("ai");
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const name = last instanceof Error ? last.name : "unknown failure";
  return { name, status: APICallError.isInstance(last) ? last.statusCode : undefined };
}
