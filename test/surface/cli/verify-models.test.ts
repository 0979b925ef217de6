import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeOnTerminal, onTerminal } from "./on-terminal.ts";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts the program several times.
setDefaultTimeout(120_000);

const KEY = "sk-nobody-may-see-this";

type Asked = { readonly line: string; readonly headers: Headers; readonly body: string };

let desk: Desk;
let asked: Asked[];
let reply: (line: string) => Response | Promise<Response>;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async (request) => {
    const line = `${request.method} ${new URL(request.url).pathname}`;
    asked.push({ line, headers: request.headers, body: await request.text() });
    return await reply(line);
  },
});
const url = `http://127.0.0.1:${server.port}`;

beforeAll(async () => {
  desk = createDesk();
  asked = [];
  await desk.run(["init", "a.pack", "--plain"]);
});
afterAll(() => {
  void server.stop(true);
  desk.remove();
});

/** What svc doctor finds under a name. */
async function told(name: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const { stdout, stderr } = await desk.run(["doctor", "a.pack", "--format", "json"], { env });
  expect(stdout + stderr).not.toContain(KEY);
  const { checks }: { checks: { name: string }[] } = JSON.parse(stdout);
  return checks.find((check) => check.name === name);
}

async function verify(env: Readonly<Record<string, string>>, ...more: readonly string[]) {
  asked = [];
  const args = ["doctor", "a.pack", "--verify-extraction", "--format", "json", ...more];
  const { code, stdout, stderr } = await desk.run(args, { env });
  expect(stdout + stderr).not.toContain(KEY);
  const { checks }: { checks: { name: string; status: string; message: string }[] } =
    JSON.parse(stdout);
  const of = (name: string) => checks.find((check) => check.name === name);
  return { code, extraction: of("extraction provider"), embedding: of("embedding provider") };
}

const settings = (provider: string, address = `${url}/v1`) => ({
  SVC_EXTRACTION__PROVIDER: provider,
  SVC_EXTRACTION__MODEL: "acme/one:2",
  SVC_EXTRACTION__BASE_URL: address,
  SVC_EXTRACTION_API_KEY: KEY,
});

describe("svc doctor --verify-extraction", () => {
  test("asks OpenAI and Anthropic for the model, with the key, and Ollama without generating", async () => {
    reply = () => Response.json({});
    expect((await verify(settings("openai"))).extraction?.status).toBe("ok");
    expect(asked.map(({ line }) => line)).toEqual(["GET /v1/models/acme/one%3A2"]);
    expect(asked[0]?.headers.get("authorization")).toBe(`Bearer ${KEY}`);

    expect((await verify(settings("anthropic"))).extraction?.status).toBe("ok");
    expect(asked[0]?.headers.get("x-api-key")).toBe(KEY);
    expect(asked[0]?.headers.get("anthropic-version")).toBe("2023-06-01");

    const ollama = await verify(settings("ollama", url));
    expect(ollama.extraction).toMatchObject({
      status: "ok",
      message: `ollama (acme/one:2, 127.0.0.1:${server.port}) answers and has the model`,
    });
    expect(asked.map(({ line, body }) => [line, body])).toEqual([
      ["POST /api/show", '{"model":"acme/one:2"}'],
    ]);
  });

  test.each([
    [401, "refused the key"],
    [302, "redirects to another address"],
  ])("fails on status %d", async (status, message) => {
    reply = () => new Response(KEY, { status, headers: { location: "http://127.0.0.1:9/" } });
    const { code, extraction } = await verify(settings("openai"));
    expect({ code, status: extraction?.status }).toEqual({ code: 1, status: "fail" });
    expect(extraction?.message).toContain(message);
  });

  test("finds the model in the list of a server that tells of no single one", async () => {
    reply = (line) =>
      line === "GET /v1/models"
        ? Response.json({ data: [{ id: "other" }, { id: "acme/one:2" }] })
        : new Response("", { status: 404 });
    expect((await verify(settings("openai"))).extraction?.status).toBe("ok");
  });

  test("finds the model in the list of another server that is set as Ollama", async () => {
    const inList = (id: string) => (line: string) =>
      line === "GET /v1/models"
        ? Response.json({ data: [{ id }] })
        : new Response("", { status: 404 });
    reply = inList("acme/one:2");
    expect((await verify(settings("ollama"))).extraction?.status).toBe("ok");
    reply = inList("other");
    const { extraction } = await verify(settings("ollama", url));
    expect(extraction?.message).toContain("does not know the model");
  });

  test("does not wait for a silent server for longer than it may", async () => {
    reply = () => new Promise<Response>(() => {});
    const { extraction } = await verify(settings("openai"), "--provider-timeout", "0.2");
    expect(extraction?.message).toContain("did not answer within 0.2 seconds");
    const { code } = await desk.run(["doctor", "--verify-extraction", "--provider-timeout", "0"]);
    expect(code).toBe(2);
  });

  test("fails without a key, and uses no network", async () => {
    reply = () => Response.json({});
    const { SVC_EXTRACTION_API_KEY: _key, ...keyless } = settings("openai");
    const { extraction } = await verify(keyless);
    expect(extraction?.message).toContain("needs a key, and none is set");
    expect(asked).toEqual([]);
  });

  test("without it, svc doctor tells of a key that is lacking, and of no other", async () => {
    const {
      SVC_EXTRACTION_API_KEY: _key,
      SVC_EXTRACTION__BASE_URL: _url,
      ...keyless
    } = settings("openai");
    expect(await told("extraction", keyless)).toEqual({
      name: "extraction",
      status: "warn",
      message:
        "openai needs a key, and none is set: set SVC_EXTRACTION__API_KEY or OPENAI_API_KEY; until then texts wait",
    });
    expect(await told("extraction", settings("openai"))).toMatchObject({ status: "ok" });
    const ollama = { ...keyless, SVC_EXTRACTION__PROVIDER: "ollama" };
    expect(await told("extraction", ollama)).toMatchObject({ status: "ok" });
  });

  test("svc doctor names what the environment hides of .env, without a value", async () => {
    const file = join(desk.folder, ".env");
    writeFileSync(file, `SVC_EXTRACTION__MODEL=a\nSVC_EXTRACTION_API_KEY=${KEY}\n`);
    const env = { SVC_EXTRACTION_MODEL: "b", SVC_EXTRACTION__API_KEY: KEY };
    expect(await told("settings", env)).toEqual({
      name: "settings",
      status: "warn",
      message:
        "the environment decides SVC_EXTRACTION_MODEL; the settings file says something else, which has no effect",
    });
    expect(await told("settings", { SVC_EXTRACTION__MODEL: "a" })).toBeUndefined();
    rmSync(file);
  });

  test("asks nobody while extraction is off, even with a stray key", async () => {
    const { code, extraction } = await verify({ OPENAI_API_KEY: KEY });
    expect({ code, status: extraction?.status }).toEqual({ code: 0, status: "warn" });
    expect(extraction?.message).toContain("extraction is off; to turn it on");
  });

  test("asks for an embedding model of a server, too", async () => {
    reply = () => Response.json({});
    const { embedding } = await verify({
      SVC_EMBEDDING__PROVIDER: "openai",
      SVC_EMBEDDING__BASE_URL: `${url}/v1`,
      SVC_EMBEDDING_API_KEY: KEY,
    });
    expect(embedding).toMatchObject({ status: "ok" });
    expect(asked.map(({ line }) => line)).toEqual(["GET /v1/models/text-embedding-3-small"]);
  });
});

describe("svc info", () => {
  const line = async (env: Readonly<Record<string, string>>) =>
    /^Extraction +(.*)$/m.exec((await desk.run(["info", "a.pack"], { env })).stdout)?.[1];

  test("says in one line that extraction is off and how to turn it on", async () => {
    expect(await line({ OPENAI_API_KEY: KEY })).toBe(
      "off; to turn it on, set SVC_EXTRACTION__PROVIDER (openai, anthropic or ollama) and SVC_EXTRACTION__MODEL",
    );
  });

  test("says who extracts and where texts go", async () => {
    expect(await line(settings("ollama", url))).toBe(
      `on: acme/one:2 of ollama, to which texts are sent (127.0.0.1:${server.port})`,
    );
    const { stdout } = await desk.run(["info", "a.pack", "--format", "json"], {
      env: settings("ollama", url),
    });
    expect(JSON.parse(stdout).extraction).toEqual({
      ...{ is_on: true, provider: "ollama", model: "acme/one:2" },
      ...{ pending: 0, failed: 0 },
    });
  });
});

describeOnTerminal("svc init at a terminal", () => {
  test("offers extraction, and keeps the settings where only the user can read them", async () => {
    const { code, screen } = await onTerminal(
      desk.folder,
      ["init", "offered.pack", "--plain"],
      [
        ["language model?", "klingon\r"],
        ["language model?", "openai\r"],
        ["Model", "\r"],
        ["Key, not shown", `${KEY}\r`],
      ],
    );
    expect(code).toBe(0);
    expect(screen).not.toContain(KEY);
    expect(screen).toContain('There is no provider "klingon".');
    expect(screen).toContain("by gpt-4o-mini of openai");
    expect(screen).toContain("sent to api.openai.com");
    const file = join(desk.folder, ".env");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe(
      `SVC_EXTRACTION__PROVIDER=openai\nSVC_EXTRACTION__MODEL=gpt-4o-mini\nSVC_EXTRACTION__API_KEY=${KEY}\n`,
    );
    expect((await desk.run(["info", "offered.pack"])).stdout).toContain(
      "on: gpt-4o-mini of openai",
    );
    const again = await onTerminal(desk.folder, ["init", "second.pack", "--plain"], []);
    expect(again.screen).not.toContain("language model?");
  });
});
