import type { LanguageModel, ModelRequest, ReadAnswer, TextModel } from "../../ports/models.ts";
import { answerForm } from "./answer-form.ts";
import { type Called, createCaller } from "./call-model.ts";
import { formMissed } from "./failures.ts";
import type { LanguageModelOptions } from "./options.ts";

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
      // Also stated in words: not every server with the OpenAI protocol honours the schema.
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
