import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { loadConfig, withEncryptionKey } from "../../src/config/load.ts";
import type { Config, ConfigInput } from "../../src/config/schema.ts";
import { describeSettings, NO_EFFECT } from "../../src/config/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";

const EMPTY = mkdtempSync(join(tmpdir(), "svc-config-"));
afterAll(() => rmSync(EMPTY, { recursive: true, force: true }));

type Environment = Readonly<Record<string, string>>;

function load(environment: Environment = {}, dotenv?: string, explicit?: ConfigInput) {
  const folder = dotenv === undefined ? EMPTY : mkdtempSync(join(EMPTY, "d-"));
  if (dotenv !== undefined) writeFileSync(join(folder, ".env"), dotenv);
  return loadConfig({ environment, folder, explicit });
}

function config(environment?: Environment, dotenv?: string, explicit?: ConfigInput): Config {
  return load(environment, dotenv, explicit).config;
}

function keysOf({ api }: Config): Record<string, string> {
  return Object.fromEntries(
    Object.entries(api.user_keys).map(([name, key]) => [name, key.reveal()]),
  );
}

function refusal(environment: Environment, dotenv?: string, explicit?: ConfigInput): SvcError {
  try {
    load(environment, dotenv, explicit);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

describe("precedence", () => {
  test("puts explicit values above the environment above .env", () => {
    const name = "SVC_PACKING__VECTOR_K";
    expect(config({}, `${name}=1`).packing.vector_k).toBe(1);
    expect(config({ [name]: "2" }, `${name}=1`).packing.vector_k).toBe(2);
    const explicit = { packing: { vector_k: 3 } };
    expect(config({ [name]: "2" }, `${name}=1`, explicit).packing.vector_k).toBe(3);
  });

  test("compares sources before forms", () => {
    const dotenv = "SVC_EMBEDDING__THREADS=2";
    expect(config({ SVC_EMBEDDING_THREADS: "3" }, dotenv).embedding.threads).toBe(3);
    const both = { SVC_EMBEDDING_THREADS: "3", SVC_EMBEDDING__THREADS: "4" };
    expect(config(both).embedding.threads).toBe(4);
  });

  test("lets single variables win over a group in JSON, setting by setting", () => {
    const { packing } = config({
      SVC_PACKING: '{"vector_k":1,"lexical_k":2}',
      SVC_PACKING__LEXICAL_K: "3",
    });
    expect([packing.vector_k, packing.lexical_k, packing.token_budget]).toEqual([1, 3, 4096]);
  });

  test("takes an undefined explicit value for an absent one, and an empty path for an unset one", () => {
    const environment = { SVC_PACK_PATH: "a.pack" };
    expect(config(environment, undefined, { pack_path: undefined }).pack_path).toBe("a.pack");
    expect(config(environment, undefined, { pack_path: "" }).pack_path).toBeUndefined();
    expect(config({ SVC_PACK_PATH: " " }, "SVC_PACK_PATH=b.pack").pack_path).toBeUndefined();
  });

  test("ignores case in names and keeps it in owners' names", () => {
    expect(config({ svc_packing__vector_k: "7" }).packing.vector_k).toBe(7);
    expect(keysOf(config({ SVC_API__USER_KEYS__Alice__B: "k" }))).toEqual({ Alice__B: "k" });
  });

  test("adds a single entry to the map of the same source only", () => {
    const environment = { SVC_API_USER_KEYS: '{"a":"1"}', SVC_API__USER_KEYS__b: "2" };
    expect(keysOf(config(environment))).toEqual({ a: "1", b: "2" });
    expect(keysOf(config({ SVC_API__USER_KEYS__b: "2" }, 'SVC_API_USER_KEYS={"a":"1"}'))).toEqual({
      b: "2",
    });
  });

  test("does not read a folder named .env", () => {
    const folder = mkdtempSync(join(EMPTY, "d-"));
    mkdirSync(join(folder, ".env"));
    expect(loadConfig({ environment: {}, folder }).config.write_queue_size).toBe(1000);
  });
});

describe("extraction", () => {
  type Sources = {
    readonly environment?: Environment;
    readonly file?: string;
    readonly explicit?: ConfigInput;
  };
  const isOn = ({ environment, file, explicit }: Sources) =>
    config(environment, file, explicit).isExtractionOn;

  const OFF: readonly (Sources & { readonly name: string })[] = [
    { name: "nothing" },
    {
      name: "a key of the environment alone",
      environment: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://x" },
    },
    { name: "a key of the file alone", file: "OPENAI_API_KEY=k" },
    { name: "a blank key", environment: { SVC_EXTRACTION_API_KEY: " " } },
    { name: "what only shapes it", environment: { SVC_EXTRACTION_TIMEOUT: "5" } },
  ];
  test.each(OFF)("stays off with $name", (sources) => {
    expect(isOn(sources)).toBeFalse();
  });

  const ON: readonly (Sources & { readonly name: string })[] = [
    { name: "provider", environment: { SVC_EXTRACTION_PROVIDER: "openai" } },
    { name: "model", environment: { SVC_EXTRACTION__MODEL: "qwen3:8b" } },
    { name: "api_key", environment: { SVC_EXTRACTION_API_KEY: "k" } },
    { name: "base_url", environment: { SVC_EXTRACTION: '{"base_url":"http://x"}' } },
    { name: "provider in a file", file: "SVC_EXTRACTION__PROVIDER=ollama" },
    { name: "model of a program", explicit: { extraction: { model: "m" } } },
  ];
  test.each(ON)("is asked for by $name", (sources) => {
    expect(isOn(sources)).toBeTrue();
  });
});

describe("values", () => {
  test.each([
    ["1", true],
    ["ON", true],
    ["Yes", true],
    ["t", true],
    ["0", false],
    ["off", false],
    ["N", false],
    ["False", false],
  ])("reads %s as %p", (text, value) => {
    expect(config({ SVC_API_CORS_ALLOW_CREDENTIALS: text }).api.cors_allow_credentials).toBe(value);
  });

  test("reads whole numbers with a zero fraction and refuses others", () => {
    expect(config({ SVC_WRITE_QUEUE_SIZE: "10.0" }).write_queue_size).toBe(10);
    for (const text of ["10.5", "", "ten", "0x10", "NaN", "Infinity", "0", "-1"]) {
      const { message, code } = refusal({ SVC_WRITE_QUEUE_SIZE: text });
      expect(code).toBe("invalid_config");
      expect(message).toContain("SVC_WRITE_QUEUE_SIZE: expected integer (1 to 1000000)");
      expect(message).toContain(JSON.stringify(text));
    }
  });

  test("reads lists and maps in JSON only", () => {
    const origins = '["http://localhost:3000"]';
    expect(config({ SVC_API_CORS_ORIGINS: origins }).api.cors_origins).toEqual([
      "http://localhost:3000",
    ]);
    expect(refusal({ SVC_API_CORS_ORIGINS: "http://localhost:3000" }).message).toContain(
      "JSON list",
    );
  });

  test("replaces a map as a whole", () => {
    expect(config({ SVC_EPISTEMIC_WEIGHTS: '{"observed":0.5}' }).epistemic_weights).toEqual({
      observed: 0.5,
    });
    const ttl = '{"note":null,"task":"5"}';
    expect(config({ SVC_ORGANIZER__DEFAULT_TTL_DAYS: ttl }).organizer.default_ttl_days).toEqual({
      note: null,
      task: 5,
    });
  });

  test("keeps every key of a map, whatever it is called", () => {
    const named = { ["__proto__"]: "k1", constructor: "k2" };
    const text = JSON.stringify(named);
    const sources: readonly Config[] = [
      config({ SVC_API_USER_KEYS: text }),
      config({ SVC_API: `{"user_keys":${text}}` }),
      config({ SVC_API__USER_KEYS__constructor: "k2", SVC_API__USER_KEYS____proto__: "k1" }),
      config({}, undefined, { api: { user_keys: named } }),
    ];
    for (const read of sources)
      expect(Object.entries(keysOf(read)).sort()).toEqual(Object.entries(named).sort());
    expect(Object.keys(config({ SVC_MCP_USER_KEYS: text }).mcp.user_keys)).toHaveLength(2);
    const { message } = refusal({ SVC_EPISTEMIC_WEIGHTS: '{"__proto__":0.5}' });
    expect(message).toContain("__proto__");
    expect(refusal({ SVC_CONFIDENCE_OVERRIDES: '{"a:b":"x"}' }).message).toContain('(at "a:b")');
  });

  test("unsets what may be unset", () => {
    const name = "SVC_SCORING__RRF_RECENCY_BOOST";
    expect(config({ [name]: "none" }).scoring.rrf_recency_boost).toBeUndefined();
    expect(config({ SVC_SCORING__RRF_TIE_BREAK: "" }).scoring.rrf_tie_break).toBeUndefined();
  });

  test("reads every whole number within the bounds back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4096 }), (value) => {
        expect(config({ SVC_PACKING__VECTOR_K: String(value) }).packing.vector_k).toBe(value);
      }),
      { numRuns: 50 },
    );
  });
});

test.each([
  '{"alice":"k1"," alice ":"k2"}',
  '{"jos\u00e9":"k1","jose\u0301":"k2"}',
  '{"\u212b":"k1","\u00c5":"k2"}',
])("keys of two names that are one owner are refused: %s", (text) => {
  for (const group of ["API", "MCP"]) {
    const name = `SVC_${group}__USER_KEYS`;
    const { code, message } = refusal({ [name]: text });
    expect(code).toBe("invalid_config");
    expect(message).toContain("one owner");
    expect(message).not.toContain("k1");
    expect(refusal({ [`${name}__alice`]: "k1", [`${name}__alice\u00a0`]: "k2" }).code).toBe(code);
  }
});

test.each([
  ["SVC_API__USER_KEYS", '{"alice":"k1","alice":"k2"}'],
  ["SVC_MCP_USER_KEYS", '{"alice":"k1", "\\u0061lice":"k2"}'],
  ["SVC_API", '{"port":1,"port":2}'],
  ["SVC_API", '{"user_keys":{"alice":"k1","alice":"k2"}}'],
  ["SVC_EPISTEMIC_WEIGHTS", '{"asserted":1,"asserted":0}'],
])("a name twice in the JSON of a setting is refused: %s=%s", (name, text) => {
  const { code, message } = refusal({ [name]: text });
  expect({ code, names: message.includes(name), twice: message.includes("twice") }).toEqual({
    code: "invalid_config",
    names: true,
    twice: true,
  });
  expect(message).not.toMatch(/k1|k2/);
  const entry = { [name]: text, SVC_API__USER_KEYS__bob: "k3", SVC_MCP__USER_KEYS__bob: "k3" };
  expect(refusal(entry).code).toBe("invalid_config");
});

test.each([
  "postgres://anna:hunter2@db/m",
  '"postgres://anna:hun ter2/#@db/m"',
  "postgres:anna:hunter2@db/m",
  "host=db user=anna password=hunter2",
  "https://anna:hunter2@example.com/x",
])("a value at the wrong place is repeated without its password: %s", (value) => {
  const settings = [
    "SVC_API__CORS_ORIGINS",
    "SVC_KEY_STORE",
    "SVC_WRITE_QUEUE_SIZE",
    "SVC_PACK_PATH",
  ];
  const cases: Environment[] = settings.map((name) => ({ [name]: value }));
  cases.push({ SVC_EMBEDDING__MODEL_NAME: value });
  cases.push({ SVC_EMBEDDING__MODEL_NAME: value, SVC_EMBEDDING__PROVIDER: "ollama" });
  cases.push({ SVC_API__CORS_ORIGINS: '["https://anna:hunter2@example.com/x"]' });
  for (const environment of cases) expect(refusal(environment).message).not.toMatch(/hun ?ter2/);
});

describe("refusals", () => {
  const CASES = (
    [
      [
        "an address of no database",
        { SVC_DATABASE_URL: "mysql://u:hidden@h/d" },
        "is no address of a database",
      ],
      [
        "an encrypted server database",
        {
          SVC_DATABASE_URL: "postgres://u:hidden@h/d",
          SVC_ENCRYPTION_ENABLED: "true",
          SVC_ENCRYPTION_KEY: "hidden",
        },
        "whose server encrypts its disk",
      ],
      [
        "a key for a server database",
        { SVC_DATABASE_URL: "postgres://u:hidden@h/d", SVC_ENCRYPTION_KEY: "hidden" },
        "SVC_ENCRYPTION_KEY: is the key of a pack",
      ],
      [
        "a pack and a server database",
        { SVC_DATABASE_URL: "postgres://u:hidden@h/d", SVC_PACK_PATH: "a.pack" },
        "cannot be combined with pack_path",
      ],
      ["another model", { SVC_EMBEDDING__MODEL_NAME: "klingon" }, "not part of this build"],
      ["another dimension", { SVC_EMBEDDING_DIMENSION: "5" }, "384"],
      [
        "another provider",
        { SVC_EMBEDDING__PROVIDER: "acme" },
        "one of fastembed, local, openai, ollama",
      ],
      [
        "an unknown fusion",
        { SVC_SCORING__FUSION: "sum" },
        "one of rrf, weighted, relative, adaptive",
      ],
      ["weights off balance", { SVC_SCORING__W_GRAPH: "0.3" }, "sum to 1.1"],
      ["a blank key", { SVC_API_API_KEY: " " }, "is blank"],
      [
        "a global key beside keys of owners",
        { SVC_API_API_KEY: "hidden", SVC_API_USER_KEYS: '{"a":"hidden2"}' },
        "cannot be combined",
      ],
      ["a blank owner", { SVC_API_USER_KEYS: '{" ":"hidden"}' }, "blank owner"],
      ["a keyless owner", { SVC_API_USER_KEYS: '{"a":""}' }, "blank key"],
      [
        "one key for two",
        { SVC_MCP_USER_KEYS: '{"a":"hidden","b":"hidden"}' },
        "one key for two owners",
      ],
      ["a blank MCP owner", { SVC_MCP_USER_ID: " " }, "is blank"],
      [
        "an MCP owner beside keys",
        { SVC_MCP_USER_ID: "a", SVC_MCP_USER_KEYS: '{"a":"hidden"}' },
        "cannot be combined",
      ],
      [
        "an unknown kind of knowledge",
        { SVC_EPISTEMIC_WEIGHTS: '{"guessed":1}' },
        '"guessed" is not one of',
      ],
      [
        "an override without a colon",
        { SVC_CONFIDENCE_OVERRIDES: '{"asserted":1}' },
        "epistemic:source",
      ],
      [
        "an override above one",
        { SVC_CONFIDENCE_OVERRIDES: '{"asserted:user_stated":2}' },
        "values 0 to 1",
      ],
      ["keys that are no JSON", { SVC_API_USER_KEYS: "alice=hidden" }, "expected JSON map"],
      ["an unknown name in a group", { SVC_PACKING__NOPE: "1" }, "NOPE"],
      ["a near miss of a key", { SVC_API_KEY: "hidden" }, "SVC_API__API_KEY"],
      ["an unknown name in a group in JSON", { SVC_API: '{"nope":"hidden"}' }, '"nope"'],
      [
        "a member of a group in JSON",
        { SVC_EXTRACTION: '{"provider":"ollama","model":5}' },
        'SVC_EXTRACTION ("model"): expected text',
      ],
      [
        "an origin with a path",
        { SVC_API_CORS_ORIGINS: '["http://a.example","https://B.example:443/"]' },
        'SVC_API_CORS_ORIGINS: "https://B.example:443/" is no origin, so no page would match it; write "https://b.example"',
      ],
      [
        "an origin without a scheme",
        { SVC_API_CORS_ORIGINS: '["localhost:3000"]' },
        '"localhost:3000" is no origin, so no page would match it; write for example "http://localhost:3000"',
      ],
      ["a group that is no object", { SVC_API: "hidden" }, "JSON object"],
    ] satisfies readonly (readonly [name: string, environment: Environment, says: string])[]
  ).map(([name, environment, says]) => ({ name, environment, says }));

  test.each([...CASES])("refuses $name without showing a secret", ({ environment, says }) => {
    const { code, message } = refusal(environment);
    expect(code).toBe("invalid_config");
    expect(message).toContain(says);
    expect(message).not.toContain("hidden");
  });

  test("takes origins as browsers send them", () => {
    const origins = ["*", "null", "http://localhost:3000", "https://a.example", "http://[::1]:80"];
    const others = ["chrome-extension://abcdef", "tauri://localhost"];
    const all = [...origins.slice(0, 4), ...others];
    expect(config({ SVC_API_CORS_ORIGINS: JSON.stringify(all) }).api.cors_origins).toEqual(all);
    expect(refusal({ SVC_API_CORS_ORIGINS: JSON.stringify(origins) }).message).toContain(
      'write "http://[::1]"',
    );
  });

  test("names the source and every mistake", () => {
    const error = refusal({ SVC_WRITE_QUEUE_SIZE: "x" }, "SVC_PACKING__VECTOR_K=-1");
    expect(error.message).toContain("SVC_PACKING__VECTOR_K (in .env)");
    expect(error.message).toContain("SVC_WRITE_QUEUE_SIZE");
  });

  test("refuses unknown explicit names", () => {
    // SAFETY: what a caller without types may pass.
    const explicit = { packing: { nope: 1 } } as unknown as ConfigInput;
    expect(refusal({}, undefined, explicit).message).toContain("packing.nope");
  });

  test.each([...NO_EFFECT])(
    "takes %s in every form, and says once that it has no effect",
    (setting) => {
      const [group = "", member] = setting.split(".");
      const name = `SVC_${setting.toUpperCase().replace(".", "__")}`;
      // SAFETY: what a caller without types may pass.
      const explicit = (member === undefined
        ? { [group]: "hidden" }
        : { [group]: { [member]: "hidden" } }) as unknown as ConfigInput;
      const inGroup = { [`SVC_${group.toUpperCase()}`]: `{"${member}":"hidden"}` };
      for (const { config: read, warnings } of [
        load({ [name]: "hidden" }),
        load({ [`${name}__x`]: "hidden" }),
        load({}, `${name}=hidden`),
        load({}, undefined, explicit),
        load({ [name]: "hidden" }, `${name}=hidden`, explicit),
        ...(member === undefined ? [] : [load(inGroup)]),
      ]) {
        expect(warnings).toEqual([`${setting} has no effect in this version and is ignored`]);
        expect(read).toEqual(load({}).config);
      }
    },
  );

  test("warns of unknown names at the root and passes over other programs'", () => {
    const { warnings } = load({
      SVC_FOO: "1",
      SVC_TEMPORAL_RELATION__MODEL: "m",
      SVC_CONSTRUCTOR: "x",
      PATH: "/",
    });
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain("SVC_FOO");
  });
});

test("masks secrets wherever the configuration is printed", () => {
  const secret = config({
    SVC_API_USER_KEYS: '{"a":"hidden"}',
    SVC_MCP_USER_ID: "anna",
    SVC_EXTRACTION_API_KEY: "hidden",
  });
  expect(secret.api.user_keys["a"]?.reveal()).toBe("hidden");
  expect(secret.extraction.api_key?.reveal()).toBe("hidden");
  const printed = [
    JSON.stringify(secret),
    JSON.stringify(secret.api),
    inspect(secret, { depth: 9 }),
    inspect(secret.api),
    inspect(secret.extraction),
    JSON.stringify({ nested: secret }),
    JSON.stringify(withEncryptionKey(secret, "hidden")),
    inspect(withEncryptionKey(secret, undefined).extraction),
    inspect({ ...secret.api }),
    JSON.stringify({ ...secret.extraction }),
    `${secret.extraction.api_key}`,
  ];
  for (const text of printed) {
    expect(text).not.toContain("hidden");
    expect(text).toContain("*****");
  }
  expect(JSON.stringify(secret)).toContain("anna");
});

test("describes every setting, and each description names a variable that is read", () => {
  const settings = describeSettings();
  expect(settings.length).toBeGreaterThan(50);
  for (const { setting, environment, description } of settings) {
    expect(description.length).toBeGreaterThan(10);
    for (const name of environment) {
      const { warnings } = loadOrRefuse({ [name]: "" });
      expect({ setting, warnings }).toEqual({ setting, warnings: [] });
    }
  }
});

function loadOrRefuse(environment: Environment): { warnings: readonly string[] } {
  try {
    return load(environment);
  } catch (error) {
    // An empty value may be refused, but never as an unknown name.
    if (error instanceof SvcError && !error.message.includes("no setting of"))
      return { warnings: [] };
    throw error;
  }
}
