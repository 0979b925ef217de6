import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  createHostedEmbedder,
  type HostedEmbedderOptions,
} from "../../../src/adapters/embedding/hosted-embedder.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { type HostedModel, hostedModel } from "../../../src/domain/hosted-models.ts";
import type { Embedder } from "../../../src/ports/models.ts";
import { type EmbeddingServer, startEmbeddingServer, vectorsFor } from "./embedding-server.ts";

const KEY = "sk-very-secret";
const NOTHING = { name: undefined, dimension: undefined };
const NO_PREFIX = { documentPrefix: undefined, questionPrefix: undefined };

let server: EmbeddingServer;
let warnings: string[];
const open: Embedder[] = [];

beforeEach(() => {
  server = startEmbeddingServer(8);
  warnings = [];
});
afterEach(async () => {
  for (const embedder of open.splice(0)) await embedder.close();
  server.stop();
});

function model(changes: Partial<HostedModel> = {}): HostedModel {
  const found = hostedModel({ provider: "openai", name: "acme", dimension: 8, ...NO_PREFIX });
  if (found === undefined) throw new Error("no model");
  return { ...found, ...changes };
}

function embedder(options: Partial<HostedEmbedderOptions> = {}): Embedder {
  const created = createHostedEmbedder({
    model: model(),
    baseUrl: `${server.url}/v1`,
    apiKey: KEY,
    timeoutMs: 30_000,
    pauseMs: 1,
    restMs: 0,
    warn: (message) => warnings.push(message),
    ...options,
  });
  open.push(created);
  return created;
}

async function failureOf(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`not refused as expected: ${String(error)}`);
  return error;
}

describe("the hosted embedder", () => {
  test("sends key, model and text, and makes vectors of length 1", async () => {
    const vector = await embedder().embedDocument("the key is under the pot");
    const [request] = server.received;
    expect(request?.path).toBe("/v1/embeddings");
    expect(request?.headers.get("authorization")).toBe(`Bearer ${KEY}`);
    expect(request?.body).toEqual({
      model: "acme",
      input: ["the key is under the pot"],
      encoding_format: "float",
    });
    expect(vector).toHaveLength(8);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  });

  test("puts the texts of one moment into few requests, and gives each its own vector", async () => {
    const one = embedder();
    const texts = Array.from({ length: 150 }, (_, at) => `text ${"abcdefghij"[at % 10]}${at}x`);
    const together = await Promise.all(texts.map((text) => one.embedDocument(text)));
    expect(server.received.map(({ body }) => body.input.length)).toEqual([64, 64, 22]);
    const alone = embedder();
    expect(together[77]).toEqual(await alone.embedDocument(texts[77] ?? ""));
  });

  test("keeps requests small: many long texts are several requests", async () => {
    const one = embedder({ maxTokens: 4096 });
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(16_000));
    await Promise.all(texts.map((text) => one.embedDocument(text)));
    expect(server.received.map(({ body }) => body.input.length)).toEqual([2, 1]);
  });

  test("asks once for equal texts, and separately for questions", async () => {
    const one = embedder({ model: model({ documentPrefix: "doc: ", questionPrefix: "query: " }) });
    await Promise.all([one.embedDocument("pot", "ada"), one.embedDocument("pot", "ada")]);
    await one.embedDocument("pot", "ada");
    await one.embedQuery("pot", "ada");
    expect(server.received.map(({ body }) => body.input)).toEqual([["doc: pot"], ["query: pot"]]);
  });

  test("cuts a long text to four bytes for each token, never within a character", async () => {
    const one = embedder({ maxTokens: 2 });
    await one.embedDocument("äöüäöüäöü");
    await one.embedDocument("a😀😀😀");
    expect(server.received.map(({ body }) => body.input)).toEqual([["äöüä"], ["a😀"]]);
  });

  test("sends no half characters", async () => {
    await embedder().embedDocument("broken \ud83d here");
    expect(server.received[0]?.body.input).toEqual(["broken \ufffd here"]);
  });

  test("asks for shorter vectors where the model has longer ones", async () => {
    const short = hostedModel({
      ...{ provider: "openai", name: "text-embedding-3-small", dimension: 256 },
      ...NO_PREFIX,
    });
    const vector = await embedder({ model: short ?? model() }).embedDocument("pot");
    expect(server.received[0]?.body.dimensions).toBe(256);
    expect(vector).toHaveLength(256);
  });

  test("uses no network without a key where one is needed", async () => {
    const error = await failureOf(
      embedder({ apiKey: undefined, baseUrl: undefined }).embedDocument("pot"),
    );
    expect(error.message).toBe(
      "openai (acme) needs a key: set embedding.api_key, or OPENAI_API_KEY",
    );
  });

  test("asks Ollama without a key at its bare address", async () => {
    const ollama = hostedModel({
      ...{ provider: "ollama", name: "nomic-embed-text:latest", dimension: 8 },
      ...NO_PREFIX,
    });
    await embedder({ model: ollama ?? model(), apiKey: undefined, baseUrl: server.url }).embedQuery(
      "pot",
    );
    const [request] = server.received;
    expect(request?.path).toBe("/v1/embeddings");
    expect(request?.headers.has("authorization")).toBe(false);
    expect(request?.body).toMatchObject({
      model: "nomic-embed-text",
      input: ["search_query: pot"],
    });
  });
});

describe("an unfit answer is refused by name", () => {
  const data = (...entries: unknown[]) => Response.json({ data: entries });
  const right = [1, 0, 0, 0, 0, 0, 0, 0];
  test.each([
    [
      "vectors of another dimension",
      () => data({ index: 0, embedding: [1, 0] }),
      "vectors of 2 numbers instead of 8",
    ],
    [
      "too many vectors",
      () => data({ embedding: right }, { embedding: right }),
      "2 vectors for 1 texts",
    ],
    ["no vectors", () => data(), "0 vectors for 1 texts"],
    ["an index outside", () => data({ index: 5, embedding: right }), "whose order is not clear"],
    [
      "null among the numbers",
      () => data({ embedding: [null, 0, 0, 0, 0, 0, 0, 0] }),
      "finite numbers",
    ],
    [
      "text among the numbers",
      () => data({ embedding: ["1", 0, 0, 0, 0, 0, 0, 0] }),
      "finite numbers",
    ],
    ["NaN", () => new Response('{"data":[{"embedding":[NaN,0,0,0,0,0,0,0]}]}'), "no JSON"],
    [
      "infinity",
      () => new Response('{"data":[{"embedding":[1e999,0,0,0,0,0,0,0]}]}'),
      "finite numbers",
    ],
    [
      "a number beyond float32",
      () => data({ embedding: [1e300, 0, 0, 0, 0, 0, 0, 0] }),
      "no direction",
    ],
    ["zeros", () => data({ embedding: [0, 0, 0, 0, 0, 0, 0, 0] }), "no direction"],
    ["something else", () => Response.json({ choices: [] }), "without vectors"],
    ["a page", () => new Response("<html>"), "no JSON"],
    [
      "a redirect",
      () => Response.redirect("http://127.0.0.1:9/", 302),
      "redirects to another address",
    ],
    ["a wrong key", () => new Response("", { status: 401 }), "refused the key (status 401)"],
    ["an unknown model", () => new Response("", { status: 404 }), "does not know the model"],
    ["a refused text", () => new Response("", { status: 400 }), "refused the request (status 400)"],
  ])("%s", async (_name, reply, message) => {
    server.reply = reply;
    const error = await failureOf(embedder().embedDocument("pot"));
    expect(error.code).toBe("embedding_failed");
    expect(error.message).toStartWith("openai (acme) ");
    expect(error.message).toContain(message);
    expect(server.received).toHaveLength(1);
  });
});

describe("a server in trouble", () => {
  test.each([429, 500, 503, 408])("status %d is retried", async (status) => {
    server.reply = (request) =>
      server.received.length < 3 ? new Response("", { status }) : vectorsFor(request, 8);
    expect(await embedder().embedDocument("pot")).toHaveLength(8);
    expect(server.received).toHaveLength(3);
  });

  test("fails after two retries, without key and text", async () => {
    server.reply = () => new Response("pot", { status: 503 });
    const error = await failureOf(embedder().embedDocument("pot"));
    expect(server.received).toHaveLength(3);
    expect(error.message).toBe("openai (acme) has a problem (status 503): try again later");
    expect(
      JSON.stringify([error.message, error.data, error.stack, String(error.cause)]),
    ).not.toMatch(/pot|secret/);
  });

  test("that does not exist is told as such", async () => {
    server.stop();
    const error = await failureOf(embedder().embedDocument("pot"));
    expect(error.message).toBe(
      "openai (acme) cannot be reached: check the network and the address",
    );
  });

  test("that stays silent is left after the limit", async () => {
    server.reply = () => new Promise<Response>(() => {});
    const error = await failureOf(embedder({ timeoutMs: 100 }).embedDocument("pot"));
    expect(error.message).toBe("openai (acme) did not answer within 0.1 seconds");
  });

  test("that stops in the middle of an answer is left after the limit", async () => {
    server.reply = () =>
      new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(new TextEncoder().encode('{"data')),
        }),
      );
    const error = await failureOf(embedder({ timeoutMs: 200 }).embedDocument("pot"));
    expect(error.message).toBe("openai (acme) did not answer within 0.2 seconds");
  });

  test("that asks for a longer wait than the limit is left after the limit", async () => {
    server.reply = () => new Response("", { status: 429, headers: { "retry-after": "3600" } });
    // The request itself must arrive within it.
    const error = await failureOf(embedder({ timeoutMs: 2000 }).embedDocument("pot"));
    expect(error.message).toContain("did not answer within");
    expect(server.received).toHaveLength(1);
  });

  test("that asks for a longer wait than the limit keeps no process", async () => {
    server.reply = () => new Response("", { status: 429, headers: { "retry-after": "3600" } });
    const program = `
      import { createHostedEmbedder } from "./src/adapters/embedding/hosted-embedder.ts";
      const model = ${JSON.stringify(model())};
      const embedder = createHostedEmbedder({ model, baseUrl: "${server.url}/v1", timeoutMs: 500 });
      await embedder.embedDocument("pot").catch(({ message }) => console.log(message));`;
    const cwd = join(import.meta.dir, "../../..");
    const ended = Bun.spawn([process.execPath, "-e", program], { cwd, stdout: "pipe" });
    expect(await ended.exited).toBe(0);
    expect(await ended.stdout.text()).toContain("did not answer within 0.5 seconds");
  });

  test("that answers with 5 MB is not read to the end", async () => {
    let sent = 0;
    const piece = new Uint8Array(64 * 1024).fill(0x20);
    server.reply = () =>
      new Response(
        new ReadableStream({
          pull: async (stream) => {
            sent += piece.length;
            if (sent > 64 * 1024 * 1024) stream.close();
            else stream.enqueue(piece);
            await Bun.sleep(0);
          },
        }),
      );
    const error = await failureOf(embedder().embedDocument("pot"));
    expect(error.message).toBe("openai (acme) answered with far more than vectors");
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test.each(["[", "[],", '{"a":'])(
    "that answers with 10,000 times %j is not read",
    async (piece) => {
      server.reply = () => new Response(piece.repeat(10_000));
      const error = await failureOf(embedder().embedDocument("pot"));
      expect(error.message).toBe("openai (acme) answered with far more than vectors");
    },
  );

  test("is not asked again for a while, and a person is told once", async () => {
    server.reply = () => new Response("", { status: 503 });
    const one = embedder({ restMs: 60_000 });
    await failureOf(one.embedDocument("pot"));
    await failureOf(one.embedDocument("pan"));
    await failureOf(one.embedQuery("pot?"));
    expect(server.received).toHaveLength(3);
    expect(warnings).toEqual([
      "memories are found by words only for now: openai (acme) has a problem (status 503): try again later",
    ]);
  });

  test("that refuses one text embeds its neighbours", async () => {
    server.reply = ({ body }) =>
      body.input.includes("poison") ? new Response("", { status: 400 }) : undefined;
    const one = embedder({ restMs: 60_000 });
    const results = await Promise.allSettled(
      ["pot", "poison", "pan"].map((text) => one.embedDocument(text)),
    );
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await one.embedDocument("bowl")).toHaveLength(8);
  });

  test("does not keep a closed embedder open", async () => {
    server.reply = () => new Promise<Response>(() => {});
    const one = embedder({ timeoutMs: 60_000 });
    const pending = failureOf(one.embedDocument("pot"));
    await Bun.sleep(20);
    await one.close();
    expect((await pending).code).toBe("engine_closed");
    expect((await failureOf(one.embedDocument("pan"))).code).toBe("engine_closed");
  });
});

describe("the models of providers", () => {
  test("have names, dimensions and prefixes that need no setting", () => {
    expect(hostedModel({ provider: "openai", ...NOTHING, ...NO_PREFIX })).toMatchObject({
      name: "text-embedding-3-small",
      dimension: 1536,
      recipe: "openai-l2-1",
      isShortened: false,
    });
    expect(
      hostedModel({ provider: "ollama", ...NOTHING, name: "nomic-embed-text", ...NO_PREFIX }),
    ).toMatchObject({ dimension: 768, documentPrefix: "search_document: " });
  });

  test("of unknown dimension are none", () => {
    const unknown = { provider: "openai", name: "acme", dimension: undefined } as const;
    expect(hostedModel({ ...unknown, ...NO_PREFIX })).toBeUndefined();
    expect(hostedModel({ provider: "ollama", ...NOTHING, ...NO_PREFIX })).toBeUndefined();
  });

  test("never mix: provider, document prefix and length limit are in the identity", () => {
    const recipe = (changes: object) =>
      hostedModel({ provider: "openai", name: "m", dimension: 8, ...NO_PREFIX, ...changes })
        ?.recipe;
    const recipes = [
      recipe({}),
      recipe({ provider: "ollama" }),
      recipe({ documentPrefix: "passage: " }),
      recipe({ documentPrefix: "doc: " }),
    ];
    expect(new Set(recipes).size).toBe(4);
    expect(recipe({ questionPrefix: "query: " })).toBe(recipes[0] ?? "");
    expect(embedder({ maxTokens: 512 }).identity.version).toBe("openai-l2-1-t512");
  });
});
