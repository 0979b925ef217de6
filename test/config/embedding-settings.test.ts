import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { SvcError } from "../../src/domain/errors.ts";

type Variables = Readonly<Record<string, string>>;

function load(environment: Variables, dotenv: Variables = {}) {
  const folder = mkdtempSync(join(tmpdir(), "svc-embedding-"));
  try {
    const lines = Object.entries(dotenv).map(([name, value]) => `${name}=${value}\n`);
    if (lines.length > 0) writeFileSync(join(folder, ".env"), lines.join(""));
    return loadConfig({ environment, folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const keyOf = (environment: Variables, dotenv?: Variables) =>
  load(environment, dotenv).config.embedding.api_key?.reveal();

function refusal(environment: Variables): string {
  try {
    load(environment);
  } catch (error) {
    if (error instanceof SvcError) return error.message;
  }
  throw new Error("the configuration was accepted");
}

const OPENAI = { SVC_EMBEDDING__PROVIDER: "openai" };
const OLLAMA = { SVC_EMBEDDING__PROVIDER: "Ollama", SVC_EMBEDDING_MODEL_NAME: "nomic-embed-text" };

describe("the key of an embedding provider", () => {
  test("is the setting, else the standard variable of the environment, else that of .env", () => {
    const [own, environment, file] = [
      { SVC_EMBEDDING_API_KEY: "own" },
      { OPENAI_API_KEY: "environment" },
      { OPENAI_API_KEY: "file" },
    ];
    expect(keyOf({ ...OPENAI, ...own, ...environment }, file)).toBe("own");
    expect(keyOf({ ...OPENAI, ...environment }, file)).toBe("environment");
    expect(keyOf({ ...OPENAI }, file)).toBe("file");
    expect(keyOf({ ...OPENAI })).toBeUndefined();
  });

  test("is not taken from another program's variable for a local model or Ollama", () => {
    expect(keyOf({ OPENAI_API_KEY: "stray" })).toBeUndefined();
    expect(keyOf({ ...OLLAMA, OPENAI_API_KEY: "stray" })).toBeUndefined();
  });

  test("from the environment never meets an address from a file", () => {
    const dotenv = { SVC_EMBEDDING__BASE_URL: "http://evil.example/v1" };
    const { config, notices } = load({ ...OPENAI, OPENAI_API_KEY: "mine" }, dotenv);
    expect(config.embedding.api_key).toBeUndefined();
    expect(config.embedding.base_url).toBe("http://evil.example/v1");
    expect(notices.join("\n")).toContain("embedding.base_url");
    expect(notices.join("\n")).toContain("the key of embedding is not used");
    expect(notices.join("\n")).not.toMatch(/mine|evil/);
  });

  test("has no effect with the local model, which is said without its value", () => {
    const { warnings, config } = load({ SVC_EMBEDDING_API_KEY: "hidden" });
    expect(warnings).toEqual([
      "embedding.api_key has no effect: texts are embedded on this machine, unless embedding.provider is openai or ollama",
    ]);
    expect(JSON.stringify(config)).not.toContain("hidden");
  });
});

test("a provider that a file names is told", () => {
  expect(load({}, OPENAI).notices.join("\n")).toContain("embedding.provider");
});

test.each(["PROVIDER", "MODEL", "API_KEY"])(
  "a file that turns extraction on with SVC_EXTRACTION__%s is told, without the value",
  (name) => {
    const { notices, config } = load({}, { [`SVC_EXTRACTION__${name}`]: "openai" });
    expect(config.isExtractionOn).toBe(true);
    expect(notices.join("\n")).toContain(`extraction.${name.toLowerCase()}`);
    expect(load({ [`SVC_EXTRACTION__${name}`]: "openai" }).notices).toEqual([]);
  },
);

describe("an embedding model", () => {
  test("of OpenAI alone needs no name and no dimension", () => {
    const { config, warnings } = load(OPENAI);
    expect(config.embedding).toMatchObject({ model_name: undefined, dimension: undefined });
    expect(warnings).toEqual([]);
  });

  test("of unknown dimension needs it", () => {
    const acme = { ...OPENAI, SVC_EMBEDDING_MODEL_NAME: "acme" };
    expect(refusal(acme)).toBe(
      'embedding.dimension: is missing; how many numbers the vectors of "acme" have is not known, so set it',
    );
    expect(load({ ...acme, SVC_EMBEDDING_DIMENSION: "12" }).config.embedding.dimension).toBe(12);
  });

  test("of Ollama has to be named", () => {
    expect(refusal({ SVC_EMBEDDING__PROVIDER: "ollama" })).toContain("nomic-embed-text");
    expect(load(OLLAMA).config.embedding.provider).toBe("ollama");
  });

  test("has an address of the form http://host or https://host", () => {
    expect(refusal({ ...OLLAMA, SVC_EMBEDDING__BASE_URL: "localhost:11434" })).toContain("http://");
  });

  test("of this machine may be a folder or a name on the hub", () => {
    for (const name of ["/models/x", "./x", "~/x", "sentence-transformers/all-MiniLM-L6-v2"]) {
      expect(load({ SVC_EMBEDDING_MODEL_NAME: name }).config.embedding.model_name).toBe(name);
    }
  });

  test("that is part of the program reads at most 512 tokens", () => {
    expect(refusal({ SVC_EMBEDDING__MAX_TOKENS: "513" })).toContain("512");
    expect(load({ ...OPENAI, SVC_EMBEDDING__MAX_TOKENS: "2048" }).config.embedding.max_tokens).toBe(
      2048,
    );
  });
});
