import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { remoteMemory } from "../../../clients/js/src/remote.ts";
import { createHostedEmbedder } from "../../../src/adapters/embedding/hosted-embedder.ts";
import {
  createLanguageModel,
  createVisionModel,
} from "../../../src/adapters/language-model/create-language-model.ts";
import { reachModel } from "../../../src/adapters/language-model/reach-model.ts";
import { fetchWatched } from "../../../src/adapters/rerank/model-files.ts";
import { reachedHost } from "../../../src/app/models.ts";
import { hostedModel } from "../../../src/domain/hosted-models.ts";

const NAMES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const TEXT_MODEL = { provider: "openai", model: "m", apiKey: "k", transportRetries: 0 } as const;

let seen: { readonly proxy: string[]; readonly server: string[] };
let before: readonly (readonly [string, string | undefined])[];
let baseUrl: string;
let ends: (() => void)[];

beforeEach(() => {
  seen = { proxy: [], server: [] };
  before = [...NAMES, "NO_PROXY", "no_proxy"].map((name) => [name, process.env[name]] as const);
  for (const [name] of before) delete process.env[name];
  const listen = (into: string[]) =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        into.push(url);
        return Response.json({}, { status: 400 });
      },
    });
  const [proxy, server] = [listen(seen.proxy), listen(seen.server)];
  baseUrl = `http://127.0.0.1:${server.port}/v1`;
  for (const name of NAMES) process.env[name] = `http://user:secret@127.0.0.1:${proxy.port}`;
  ends = [() => proxy.stop(true), () => server.stop(true)];
});
afterEach(() => {
  for (const end of ends) end();
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const REQUESTS: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  embedding: (url) => {
    const named = { documentPrefix: undefined, questionPrefix: undefined };
    const model = hostedModel({ provider: "openai", name: "acme", dimension: 8, ...named });
    if (model === undefined) throw new Error("no model");
    return createHostedEmbedder({ model, baseUrl: url, timeoutMs: 9000 }).embedQuery("a");
  },
  "extraction and verification": (url) =>
    createLanguageModel({ ...TEXT_MODEL, baseUrl: url }).answer({
      system: "s",
      prompt: "p",
      schema: { type: "object" },
      timeoutMs: 9000,
      schemaRetries: 0,
      temperature: 0,
    }),
  "extraction by Anthropic's protocol": (url) =>
    createLanguageModel({ ...TEXT_MODEL, provider: "anthropic", baseUrl: url }).answer({
      system: "s",
      prompt: "p",
      schema: { type: "object" },
      timeoutMs: 9000,
      schemaRetries: 0,
      temperature: 0,
    }),
  vision: (url) =>
    createVisionModel({ ...TEXT_MODEL, provider: "ollama", baseUrl: url }).describe({
      image: new Uint8Array([1]),
      mediaType: "image/png",
      prompt: "p",
      timeoutMs: 9000,
    }),
  "the question whether a model is there": (url) =>
    reachModel({
      provider: "ollama",
      model: "m",
      baseUrl: url,
      apiKey: undefined,
      needsKey: false,
      timeoutMs: 9000,
    }),
  "a model's files": (url) =>
    fetchWatched(url, { signal: new AbortController().signal, stallTimeoutMs: 9000 }),
  "a memory behind HTTP": (url) => remoteMemory({ url }).getNodes(["0"], "u"),
};

describe("a request to this machine goes past the proxy of the environment", () => {
  test.each(Object.keys(REQUESTS))("%s", async (what) => {
    await REQUESTS[what]?.(baseUrl).catch(() => {});
    expect(seen.server.length).toBeGreaterThan(0);
    expect(seen.proxy).toEqual([]);
  });
});

describe("a request to the network goes through it", () => {
  test.each(Object.keys(REQUESTS).slice(0, -1))("%s", async (what) => {
    await REQUESTS[what]?.("http://models.example.com/v1").catch(() => {});
    expect(seen.proxy[0]).toStartWith("http://models.example.com/");
    expect(seen.server).toEqual([]);
  });

  test("and a person is told its name without its credentials", () => {
    process.env["HTTP_PROXY"] = process.env["http_proxy"] = "http://user:secret@gate:3128";
    expect(reachedHost("openai", "http://models.example.com/v1")).toBe(
      "models.example.com through the proxy gate:3128",
    );
    expect(reachedHost("ollama", undefined)).toBe("localhost:11434");
  });
});
