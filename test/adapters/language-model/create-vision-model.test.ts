import { afterEach, describe, expect, test } from "bun:test";
import type { LanguageModelOptions } from "../../../src/adapters/language-model/create-language-model.ts";
import { createVisionModel } from "../../../src/adapters/language-model/create-language-model.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import {
  type ProviderServer,
  type Received,
  type Reply,
  refusal,
  startProvider,
  type WireFormat,
} from "./provider-server.ts";

const KEY = "sk-albatross";
const IMAGE = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
const BASE64 = IMAGE.toBase64();

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

function provider(format: WireFormat, ...replies: ((received: Received) => Reply)[]) {
  const server = startProvider(format, replies);
  endings.push(server.stop);
  return server;
}

function model(server: ProviderServer, more: Partial<LanguageModelOptions> = {}) {
  return createVisionModel({
    ...{ provider: "openai", model: "test-model", apiKey: KEY, baseUrl: `${server.url}/v1` },
    ...more,
  });
}

function describeIn(
  seen: ReturnType<typeof model>,
  more: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const prompt = "pelican question";
  return seen.describe({
    image: IMAGE,
    mediaType: "image/jpeg",
    prompt,
    timeoutMs: 10_000,
    ...more,
  });
}

async function failure(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.catch((reason: unknown) => reason);
  if (error instanceof SvcError) return error;
  throw new Error("nothing was refused");
}

describe("a picture", () => {
  test("is a part of the message to an OpenAI server, behind the question", async () => {
    const server = provider("openai", () => "  A receipt.\n");
    expect(await describeIn(model(server))).toBe("A receipt.");
    const [{ path, headers, body } = expect.unreachable()] = server.received;
    expect(path).toBe("/v1/chat/completions");
    expect(headers.get("authorization")).toBe(`Bearer ${KEY}`);
    expect(body).toMatchObject({ model: "test-model", temperature: 0, seed: 0 });
    expect(body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "pelican question" },
          { type: "image_url", image_url: { url: `data:image/jpeg;base64,${BASE64}` } },
        ],
      },
    ]);
  });

  test("is sent to Ollama in the same form, without a key and without thinking", async () => {
    const server = provider("openai", () => "<think>\nhm\n</think>\n\nA dog.");
    const seen = model(server, { provider: "ollama", apiKey: undefined, baseUrl: server.url });
    expect(seen.modelName).toBe("ollama/test-model");
    expect(await describeIn(seen)).toBe("A dog.");
    const [{ headers, body } = expect.unreachable()] = server.received;
    expect(headers.has("authorization")).toBe(false);
    expect(body).toMatchObject({ temperature: 0, seed: 0, reasoning_effort: "none" });
    expect(JSON.stringify(body.messages)).toContain(`data:image/jpeg;base64,${BASE64}`);
  });

  test("is sent to Anthropic as its protocol wants it", async () => {
    const server = provider("anthropic", () => "A sign.");
    expect(await describeIn(model(server, { provider: "anthropic" }))).toBe("A sign.");
    const [{ path, headers, body } = expect.unreachable()] = server.received;
    expect(path).toBe("/v1/messages");
    expect(headers.get("x-api-key")).toBe(KEY);
    expect(JSON.stringify(body.messages)).toContain(
      `"source":{"type":"base64","media_type":"image/jpeg","data":"${BASE64}"}`,
    );
  });
});

describe("fails with vision_failed, without question, key or answer,", () => {
  const html = () =>
    new Response("<h1>albatross</h1>", { headers: { "content-type": "text/html" } });
  test.each<[string, () => Reply, string]>([
    ["a refusal of the key", () => refusal(401), "refused the key"],
    ["a model that nobody knows", () => refusal(404), "does not know the model"],
    ["a server in trouble", () => refusal(500), "has a problem"],
    ["too many questions", () => refusal(429), "too often"],
    ["a picture that is too large", () => refusal(413), "refused the request (status 413)"],
    ["an answer that is no JSON", html, "unreadable form"],
    ["JSON of another form", () => Response.json({ choices: "x" }), "unreadable form"],
    ["an empty text", () => "", "answered with no description"],
    ["a text of blanks", () => " \n ", "answered with no description"],
    ["thoughts alone", () => "<think>hm</think>", "answered with no description"],
    ["an answer of a megabyte", () => " ".repeat(1_048_577), "far more than was asked for"],
    ["lists within lists", () => "[".repeat(200_000), "far more than was asked for"],
    ["an endless text", () => "x".repeat(70_000), "more than 65536 characters"],
  ])("after %s", async (_what, reply, message) => {
    const seen = model(provider("openai", reply), { transportRetries: 0 });
    const error = await failure(describeIn(seen));
    expect([error.code, error.name]).toEqual(["vision_failed", "VisionError"]);
    expect(error.message).toContain(message);
    expect(JSON.stringify(error) + error.stack).not.toMatch(/pelican|albatross/);
  });

  test("where nobody listens", async () => {
    const server = provider("openai", () => "");
    server.stop();
    const error = await failure(describeIn(model(server, { transportRetries: 0 })));
    expect(error.message).toContain("cannot be reached");
    expect(error.cause).toMatchObject({ name: "APIConnectionError" });
  });

  test.each<[string, () => Reply, string, string]>([
    [
      "a server in trouble",
      () => Response.json({}, { status: 503 }),
      "has a problem (status 503): try again later",
      "InternalServerError",
    ],
    [
      "a refusal that is never sent to its end",
      () =>
        new Response(
          new ReadableStream({
            start: (stream) => stream.enqueue(new Uint8Array(9)),
            pull: () => new Promise(() => {}),
          }),
          { status: 401 },
        ),
      "refused the key (status 401): check it",
      "AuthenticationError",
    ],
  ])("by what it was after %s, where the limit comes before the next try", async (...given) => {
    const [, reply, message, name] = given;
    const error = await failure(describeIn(model(provider("openai", reply)), { timeoutMs: 1000 }));
    expect([error.code, error.message]).toEqual([
      "vision_failed",
      `openai (test-model) ${message}`,
    ]);
    expect(error.cause).toMatchObject({ name });
  });

  test("before a hosted provider is asked without a key", async () => {
    const server = provider("openai", () => "A dog.");
    const error = await failure(describeIn(model(server, { apiKey: undefined })));
    expect(error.message).toContain("needs a key");
    expect(server.received).toEqual([]);
  });
});
