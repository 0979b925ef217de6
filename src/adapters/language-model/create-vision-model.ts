import { providerHost } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { withoutThoughts } from "../../lib/json-answer.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { DescribeRequest, VisionModel } from "../../ports/models.ts";
import { type Called, createCaller } from "./call-model.ts";
import type { LanguageModelOptions } from "./options.ts";

/** UTF-16 units. A model that writes more is repeating itself. */
const MAX_CHARS = 65_536;
/** Bytes of one answer: as many characters, escaped, and what the server says around them. */
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
      const text = await call(request, (called) => complete(called, request)).catch((error) => {
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

async function complete({ model, settings }: Called, request: DescribeRequest): Promise<string> {
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

/** What helps where the server is one that a user runs. */
function remedyOf(cause: unknown, { provider, model, baseUrl }: LanguageModelOptions): string {
  const name = cause instanceof Error ? cause.name : "";
  if (provider !== "ollama") return "";
  if (name === "NotFoundError") return `; get it with: ollama pull ${shellWord(model)}`;
  if (name !== "APIConnectionError") return "";
  return ` (${providerHost(provider, baseUrl)}); start it with: ollama serve, or set SVC_VISION__BASE_URL or SVC_VISION__PROVIDER`;
}
