import { afterEach, describe, expect, test } from "bun:test";
import type { LanguageModelOptions } from "../../../src/adapters/language-model/create-language-model.ts";
import { createLanguageModel } from "../../../src/adapters/language-model/create-language-model.ts";
import type { SvcError } from "../../../src/domain/errors.ts";
import type { ModelRequest } from "../../../src/ports/models.ts";
import {
  type ProviderServer,
  type Received,
  type Reply,
  refusal,
  startProvider,
  type WireFormat,
} from "./provider-server.ts";

const KEY = "sk-albatross";
const PROMPT = "pelican question";
const ANSWER = '{"queries":["alpha","beta"]}';

const REQUEST: ModelRequest = {
  system: "You write search queries.",
  prompt: PROMPT,
  schema: {
    type: "object",
    properties: { queries: { type: "array", items: { type: "string" } } },
    required: ["queries"],
    additionalProperties: false,
  },
  timeoutMs: 10_000,
  schemaRetries: 2,
  temperature: 0,
};

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

function provider(
  format: WireFormat,
  ...replies: readonly ((received: Received) => Reply)[]
): ProviderServer {
  const server = startProvider(format, replies);
  endings.push(server.stop);
  return server;
}

function model(server: ProviderServer, more: Partial<LanguageModelOptions> = {}) {
  return createLanguageModel({
    provider: "openai",
    model: "test-model",
    apiKey: KEY,
    baseUrl: `${server.url}/v1`,
    ...more,
  });
}

async function failure(call: Promise<unknown>): Promise<SvcError> {
  return call.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error: SvcError) => error,
  );
}

/** Everything that a log could show of an error. */
const shown = (error: SvcError): string =>
  `${Bun.inspect(error)} ${JSON.stringify(error.data)} ${String(error.cause)}`;

describe("each provider is asked in its own format", () => {
  test("openai", async () => {
    const server = provider("openai", () => ANSWER);
    const answer = await model(server, { reasoningEffort: "low" }).answer(REQUEST);
    expect(answer).toEqual({ queries: ["alpha", "beta"] });
    const [received] = server.received;
    expect(received?.path).toBe("/v1/chat/completions");
    expect(received?.headers.get("authorization")).toBe(`Bearer ${KEY}`);
    expect(received?.body).toMatchObject({
      model: "test-model",
      temperature: 0,
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { schema: REQUEST.schema } },
    });
    const [system, user, ...more] = received?.body.messages ?? [];
    expect(system?.role).toBe("system");
    expect(String(system?.content)).toStartWith(REQUEST.system);
    expect(user).toEqual({ role: "user", content: PROMPT });
    expect(more).toEqual([]);
  });

  test("anthropic", async () => {
    const server = provider("anthropic", () => ANSWER);
    const anthropic = model(server, { provider: "anthropic", reasoningEffort: "high" });
    expect(await anthropic.answer({ ...REQUEST, temperature: 0.5 })).toEqual({
      queries: ["alpha", "beta"],
    });
    const [received] = server.received;
    expect(received?.path).toBe("/v1/messages");
    expect(received?.headers.get("x-api-key")).toBe(KEY);
    expect(received?.body).toMatchObject({
      model: "test-model",
      temperature: 0.5,
      max_tokens: 4096,
    });
    expect(JSON.stringify(received?.body)).not.toContain("high");
    expect(received?.body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: PROMPT }] },
    ]);
  });

  test("ollama, without a key and without thoughts", async () => {
    const server = provider("openai", () => ANSWER);
    const local = model(server, { provider: "ollama", apiKey: undefined, baseUrl: server.url });
    expect(await local.answer(REQUEST)).toEqual({ queries: ["alpha", "beta"] });
    const [received] = server.received;
    expect(received?.path).toBe("/v1/chat/completions");
    expect(received?.headers.get("authorization")).toBeNull();
    expect(received?.body).toMatchObject({ reasoning_effort: "none", temperature: 0 });
    expect(received?.body.response_format?.type).toBe("json_schema");
  });

  test("names itself for the records", () => {
    const server = provider("openai", () => ANSWER);
    expect(model(server)).toMatchObject({ provider: "openai", model: "test-model" });
  });
});

describe("an answer in another form", () => {
  test.each([
    { name: "text that is no JSON", said: "I would search for pelicans." },
    { name: "JSON that is cut off", said: '{"queries":["a"' },
    { name: "a member that is missing", said: "{}" },
    { name: "a member of another type", said: '{"queries":"alpha"}' },
    { name: "a member too many", said: '{"queries":[],"more":1}' },
    { name: "a list", said: '["alpha"]' },
    { name: "nothing", said: "" },
  ])("is asked for again after $name", async ({ said }) => {
    const server = provider(
      "openai",
      () => said,
      () => ANSWER,
    );
    expect(await model(server).answer(REQUEST)).toEqual({ queries: ["alpha", "beta"] });
    const messages = server.received[1]?.body.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(String(messages[2]?.content)).toStartWith("Your last answer was refused: ");
  });

  test("names the place that does not fit", async () => {
    const server = provider(
      "openai",
      () => '{"queries":["a",7]}',
      () => ANSWER,
    );
    await model(server).answer(REQUEST);
    expect(String(server.received[1]?.body.messages[2]?.content)).toContain("queries.1: ");
  });

  test.each([
    ["a code fence", `\`\`\`json\n${ANSWER}\n\`\`\``],
    ["a code fence in prose", `Sure:\n\`\`\`\n${ANSWER}\n\`\`\`\nThat is all.`],
    ["thoughts", `<think>{"queries":["draft"]}</think>\n${ANSWER}`],
    ["an envelope", `\ufeff{"result": ${ANSWER}}`],
  ])("is taken from %s", async (_, said) => {
    const server = provider("openai", () => said);
    expect(await model(server).answer(REQUEST)).toEqual({ queries: ["alpha", "beta"] });
    expect(server.received).toHaveLength(1);
  });

  test("fails after as many further tries as were allowed", async () => {
    const server = provider("openai", () => '{"queries":"pelican"}');
    const error = await failure(model(server).answer(REQUEST));
    expect(server.received).toHaveLength(3);
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain("answered 3 times, but not in the requested form");
    expect(shown(error)).not.toContain("pelican");
  });

  test("fails at once without further tries", async () => {
    const server = provider("openai", () => "no");
    const error = await failure(model(server).answer({ ...REQUEST, schemaRetries: 0 }));
    expect(server.received).toHaveLength(1);
    expect(error.message).toContain("answered once");
  });
});

describe("a provider in trouble", () => {
  test("is asked again after a 500, and its answer taken", async () => {
    const server = provider(
      "openai",
      () => refusal(500),
      () => refusal(429),
      () => ANSWER,
    );
    expect(await model(server).answer(REQUEST)).toEqual({ queries: ["alpha", "beta"] });
    expect(server.received).toHaveLength(3);
  });

  test("is given up after two further tries", async () => {
    const server = provider("openai", () => refusal(500));
    const error = await failure(model(server).answer(REQUEST));
    expect(server.received).toHaveLength(3);
    expect(error.code).toBe("model_failed");
    expect(error.data).toEqual({ provider: "openai", model: "test-model", status: 500 });
  });

  test.each([
    { status: 400, says: "refused the request (status 400)" },
    { status: 401, says: "refused the key (status 401)" },
    { status: 403, says: "refused the key (status 403)" },
    { status: 404, says: "does not know the model" },
    { status: 422, says: "refused the request (status 422)" },
  ])("is asked once when it answers $status", async ({ status, says }) => {
    for (const name of ["openai", "anthropic", "ollama"] as const) {
      const server = provider("openai", () => refusal(status));
      const error = await failure(model(server, { provider: name }).answer(REQUEST));
      expect(server.received).toHaveLength(1);
      expect(error).toMatchObject({ code: "model_failed", data: { provider: name, status } });
      expect(error.message).toContain(says);
    }
  });

  test("may answer with something that is no JSON", async () => {
    const server = provider("openai", () => new Response("<html>pelican</html>"));
    const error = await failure(model(server, { transportRetries: 0 }).answer(REQUEST));
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain("in an unreadable form (status 200)");
  });

  test("may not be there at all", async () => {
    const server = provider("openai", () => ANSWER);
    server.stop();
    const error = await failure(model(server, { transportRetries: 0 }).answer(REQUEST));
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain("cannot be reached");
    expect(error.message).not.toContain("127.0.0.1");
  });

  test.each([
    {
      name: "a refusal that repeats prompt and key",
      reply: () => refusal(401, `${PROMPT} ${KEY}`),
    },
    { name: "an answer in another form", reply: () => `"${PROMPT} ${KEY}"` },
    { name: "a page", reply: () => new Response(`${PROMPT} ${KEY}`, { status: 400 }) },
  ])("is reported without prompt and key after $name", async ({ reply }) => {
    const server = provider("openai", reply);
    const text = shown(await failure(model(server).answer(REQUEST)));
    expect(text).not.toContain("pelican");
    expect(text).not.toContain("albatross");
    expect(text).not.toContain(server.url);
  });
});

describe("the limit of a request", () => {
  const hanging = () => new Promise<Response>(() => {});

  test("ends the wait for a provider that accepts and stays silent", async () => {
    const server = provider("openai", hanging);
    const started = performance.now();
    const error = await failure(model(server).answer({ ...REQUEST, timeoutMs: 200 }));
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(error).toMatchObject({
      code: "model_timeout",
      message: "openai (test-model) did not answer within 0.2 seconds",
      data: { provider: "openai", model: "test-model" },
    });
  });

  test("ends the wait for an answer that never ends", async () => {
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: async (controller) => {
            await Bun.sleep(20);
            controller.enqueue(" ");
          },
        }),
        { headers: { "content-type": "application/json" } },
      );
    const server = provider("openai", endless);
    const error = await failure(model(server).answer({ ...REQUEST, timeoutMs: 200 }));
    expect(error.code).toBe("model_timeout");
  });

  test("covers the pauses between tries", async () => {
    const busy = () => Response.json({}, { status: 503, headers: { "retry-after": "30" } });
    const server = provider("openai", busy);
    const started = performance.now();
    // The request itself must arrive within it.
    const error = await failure(model(server).answer({ ...REQUEST, timeoutMs: 2000 }));
    expect(error.code).toBe("model_timeout");
    expect(error.message).toEndWith("has a problem (status 503): try again later");
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(server.received).toHaveLength(1);
  });

  test("covers answers that are asked for again", async () => {
    const slowNonsense = async () => {
      await Bun.sleep(120);
      return Response.json({
        choices: [{ message: { role: "assistant", content: "no" }, finish_reason: "stop" }],
      });
    };
    const server = provider("openai", slowNonsense);
    const error = await failure(
      model(server, { provider: "ollama" }).answer({
        ...REQUEST,
        timeoutMs: 300,
        schemaRetries: 50,
      }),
    );
    expect(error.code).toBe("model_timeout");
    expect(server.received.length).toBeLessThan(5);
  });

  test("leaves a slow answer within it alone", async () => {
    const server = provider("openai", () => Bun.sleep(150).then(() => ANSWER));
    expect(await model(server).answer({ ...REQUEST, timeoutMs: 5000 })).toEqual({
      queries: ["alpha", "beta"],
    });
  });

  test("gives way to the caller's own reason", async () => {
    const server = provider("openai", hanging);
    const stop = new AbortController();
    const reason = new Error("no longer wanted");
    setTimeout(() => stop.abort(reason), 50);
    const call = model(server).answer({ ...REQUEST, signal: stop.signal });
    expect(await call.catch((error: unknown) => error)).toBe(reason);
  });

  test("does not begin for a caller who gave up before", async () => {
    const server = provider("openai", () => ANSWER);
    const reason = new Error("never mind");
    const call = model(server).answer({ ...REQUEST, signal: AbortSignal.abort(reason) });
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(server.received).toEqual([]);
  });
});

describe("a key that is missing", () => {
  test.each(["openai", "anthropic"] as const)("is reported by %s without a call", async (name) => {
    const server = provider("openai", () => ANSWER);
    const error = await failure(
      model(server, { provider: name, apiKey: undefined }).answer(REQUEST),
    );
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain(`${name.toUpperCase()}_API_KEY`);
    expect(server.received).toEqual([]);
  });

  test("is not looked for in the environment by the client library", async () => {
    const server = provider("openai", () => ANSWER);
    const file = `${import.meta.dir}/../../../src/adapters/language-model/create-language-model.ts`;
    const program = `
      const { createLanguageModel } = await import(${JSON.stringify(file)});
      const model = createLanguageModel({ provider: "openai", model: "o3-mini", apiKey: "own", baseUrl: ${JSON.stringify(`${server.url}/v1`)} });
      console.log(JSON.stringify(await model.answer(${JSON.stringify(REQUEST)})));`;
    const child = Bun.spawn([process.execPath, "-e", program], {
      env: { OPENAI_API_KEY: "foreign", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.exited).toBe(0);
    // Nothing but the answer: the library would warn that this model knows no temperature.
    expect(await child.stdout.text()).toBe(`${ANSWER}\n`);
    expect(await child.stderr.text()).toBe("");
    expect(server.received[0]?.headers.get("authorization")).toBe("Bearer own");
  });
});

test("a model that is never asked loads nothing", async () => {
  const server = provider("openai", () => ANSWER);
  const file = `${import.meta.dir}/../../../src/adapters/language-model/create-language-model.ts`;
  const program = `
    const { createLanguageModel } = await import(${JSON.stringify(file)});
    const loaded = () => Object.keys(require.cache).filter((path) => /node_modules.(ai|@ai-sdk)./.test(path)).length;
    const model = createLanguageModel({ provider: "openai", model: "m", apiKey: "k", baseUrl: ${JSON.stringify(server.url)} });
    const before = loaded();
    await model.answer(${JSON.stringify(REQUEST)});
    console.log(before, loaded() > 0);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  expect(await child.stdout.text()).toBe("0 true\n");
});
