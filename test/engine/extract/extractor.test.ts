import { afterEach, describe, expect, test } from "bun:test";
import type { LanguageModelOptions } from "../../../src/adapters/language-model/create-language-model.ts";
import { createLanguageModel } from "../../../src/adapters/language-model/create-language-model.ts";
import type { Turn } from "../../../src/domain/extraction/passages.ts";
import { failureCode } from "../../../src/domain/extraction/work.ts";
import { createExtractor } from "../../../src/engine/extract/extractor.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import {
  type ProviderServer,
  type Received,
  type Reply,
  refusal,
  startProvider,
} from "../../adapters/language-model/provider-server.ts";

const KEY = "sk-albatross";
const FACT = {
  subject: "I",
  predicate: "lives_in",
  object: "Lisbon",
  polarity: "positive",
  evidence_quote: "I live in Lisbon.",
};
const ONE = JSON.stringify({ facts: [FACT] });
const BATCH = JSON.stringify({ turns: [{ turn: 1, facts: [FACT] }, { turn: 2 }] });

const servers: ProviderServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

function extractor(
  replies: readonly ((received: Received) => Reply)[],
  {
    maxRetries = 1,
    timeoutMs = 10_000,
    ...options
  }: Partial<LanguageModelOptions> & {
    readonly maxRetries?: number;
    readonly timeoutMs?: number;
  } = {},
) {
  const server = startProvider(options.provider === "anthropic" ? "anthropic" : "openai", replies);
  servers.push(server);
  const model = createLanguageModel({
    provider: "openai",
    model: "test-model",
    apiKey: KEY,
    baseUrl: `${server.url}/v1`,
    transportRetries: 0,
    ...options,
  });
  const limits = { timeoutMs, batchTimeoutMs: timeoutMs, maxRetries, temperature: 0 };
  return { server, ...createExtractor(model, limits) };
}

function turn(content: string, part: Partial<Turn> = {}): Turn {
  const at = asInstant("2024-05-10T09:00:30.000000Z");
  return { content, role: "user", speaker: undefined, isOwner: false, at, language: "en", ...part };
}

const SAID = turn("I live in Lisbon.");

async function codeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "none",
    (error: unknown) => failureCode(error),
  );
}

describe("a provider that is asked over HTTP", () => {
  test.each(["openai", "anthropic", "ollama"] as const)(
    "answers about turns as %s",
    async (provider) => {
      const { server, one, several } = extractor([() => ONE, () => BATCH], { provider });
      const read = await one(SAID);
      expect(read.result.claims.map(({ object }) => object)).toEqual(["Lisbon"]);
      const answer = await several([SAID, turn("Hi.")]);
      expect([...answer.turns.keys()]).toEqual([1, 2]);
      expect(server.received).toHaveLength(2);
      // Words of a turn are never among the instructions.
      const [system] = server.received[0]?.body.messages ?? [];
      if (provider !== "anthropic") expect(system).toMatchObject({ role: "system" });
      expect(
        JSON.stringify(provider === "anthropic" ? server.received[0]?.body.system : system),
      ).not.toContain("I live in Lisbon.");
    },
  );

  test.each<[string, string]>([
    ["wrong JSON", "I think that ..."],
    ["an answer that was cut off", ONE.slice(0, -4)],
    ["the wrong form", '{"facts": "none"}'],
    ["five megabytes", JSON.stringify({ summary: "x".repeat(5 * 1024 * 1024) })],
  ])("is asked again about one turn after %s", async (_, wrong) => {
    const { server, one } = extractor([() => wrong, () => ONE]);
    expect((await one(SAID)).result.claims).toHaveLength(1);
    expect(server.received).toHaveLength(2);
    expect(JSON.stringify(server.received[1]?.body)).toContain("was refused");
  });

  test("is asked as often as the settings say, and about several turns once", async () => {
    const wrong = extractor([() => "no"], { maxRetries: 2 });
    expect(await codeOf(wrong.one(SAID))).toBe("ValidationError");
    expect(wrong.server.received).toHaveLength(3);
    expect(await codeOf(wrong.several([SAID, SAID]))).toBe("ValidationError");
    expect(wrong.server.received).toHaveLength(4);
    expect(await codeOf(wrong.several([SAID]))).toBe("ValidationError");
    expect(wrong.server.received).toHaveLength(7);
  });

  test.each([
    [400, "BadRequestError"],
    [401, "AuthenticationError"],
    [403, "PermissionDeniedError"],
    [404, "NotFoundError"],
    [413, "BadRequestError"],
    [422, "UnprocessableEntityError"],
    [429, "RateLimitError"],
    [500, "InternalServerError"],
    [503, "InternalServerError"],
  ])("with the status %i fails as %s, and tells neither text nor key", async (status, code) => {
    const { several } = extractor([() => refusal(status, `said ${KEY}: I live in Lisbon.`)]);
    const error = await several([SAID]).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(failureCode(error)).toBe(code);
    expect(Bun.inspect(error)).not.toContain(KEY);
    expect(Bun.inspect(error)).not.toContain("Lisbon");
  });

  test("that does not answer fails as a timeout", async () => {
    const { one } = extractor([() => new Promise<string>(() => undefined)], { timeoutMs: 50 });
    expect(await codeOf(one(SAID))).toBe("TimeoutError");
  });

  test("that is not there fails as a lost connection", async () => {
    const { server, one } = extractor([() => ONE]);
    server.stop();
    expect(await codeOf(one(SAID))).toBe("APIConnectionError");
  });

  test("without a key fails before any request", async () => {
    const { server, one } = extractor([() => ONE], { apiKey: undefined });
    expect(await codeOf(one(SAID))).toBe("AuthenticationError");
    expect(server.received).toEqual([]);
  });

  test("is left when the work ends", async () => {
    const { one } = extractor([() => new Promise<string>(() => undefined)]);
    const ending = new AbortController();
    const asked = one(SAID, ending.signal);
    ending.abort(Object.assign(new Error("stop"), { name: "Cancelled" }));
    expect(await codeOf(asked)).toBe("Cancelled");
  });
});
