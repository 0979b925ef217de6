import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelRoot } from "../../../src/adapters/embedding/model-files.ts";
import { DEFAULT_MODEL } from "../../../src/domain/embedding-models.ts";
import {
  type EmbeddingServer,
  startEmbeddingServer,
} from "../../adapters/embedding/embedding-server.ts";
import { until } from "../../until.ts";
import { createDesk, type Desk } from "./run-svc.ts";

// Each test starts the program several times.
setDefaultTimeout(120_000);

const DIMENSION = 48;
const KEY = "sk-nobody-may-see-this";
const POT = "The spare key lies under the blue flower pot";

let desk: Desk;
let server: EmbeddingServer;
let env: Readonly<Record<string, string>>;

beforeAll(() => {
  desk = createDesk();
  server = startEmbeddingServer(DIMENSION);
  env = {
    SVC_EMBEDDING__PROVIDER: "openai",
    SVC_EMBEDDING__MODEL_NAME: "acme-embed",
    SVC_EMBEDDING__DIMENSION: String(DIMENSION),
    SVC_EMBEDDING__BASE_URL: `${server.url}/v1`,
    SVC_EMBEDDING_API_KEY: KEY,
  };
});
afterAll(() => {
  server.stop();
  desk.remove();
});

async function run(...args: readonly string[]) {
  const outcome = await desk.run(args, { env });
  expect(outcome.stdout + outcome.stderr).not.toContain(KEY);
  return outcome;
}

async function modelOf(pack: string) {
  const { stdout } = await desk.run(["info", pack, "--format", "json"]);
  const {
    embedding_model: model,
    embedding_version: version,
    embedding_dim: dimension,
  } = JSON.parse(stdout).manifest;
  return { model, version, dimension };
}

async function found(pack: string, query: string, settings = env) {
  const { stdout, stderr } = await desk.run(["search", pack, query, "--format", "json"], {
    env: settings,
  });
  return {
    texts: JSON.parse(stdout).results.map((one: { content: string }) => one.content),
    stderr,
  };
}

describe("a pack with a model of a server", () => {
  test("says where texts go, keeps model and dimension, and finds by its vectors", async () => {
    const made = await run("init", "a.pack", "--plain");
    const host = new URL(server.url).host;
    expect(made.stdout).toContain(
      `Its embedding model is acme-embed of openai. The text of every memory and every question is sent to ${host} (openai) to be embedded.\n`,
    );
    expect((await run("store", "a.pack", POT)).code).toBe(0);
    expect(await modelOf("a.pack")).toEqual({
      model: "acme-embed",
      version: "openai-l2-1",
      dimension: DIMENSION,
    });
    const { texts, stderr } = await found("a.pack", "blue flower key");
    expect(texts).toEqual([POT]);
    expect(stderr).not.toContain("Warning");
    expect(server.received.map(({ body }) => body.input)).toEqual([[POT], ["blue flower key"]]);
    const info = (await run("info", "a.pack")).stdout;
    expect(info).toContain(`acme-embed (${DIMENSION}) of openai: texts are sent to ${host}`);
  });

  test("keeps a memory while the server is down, finds it by words, and embeds it later", async () => {
    await run("init", "down.pack", "--plain");
    server.reply = () => new Response(`no ${KEY}`, { status: 503 });
    const stored = await run("store", "down.pack", POT);
    expect(stored.code).toBe(0);
    expect(stored.stderr).toContain("openai (acme-embed) has a problem (status 503)");
    const { texts, stderr } = await found("down.pack", "flower pot");
    expect(texts).toEqual([POT]);
    expect(stderr).toContain("VECTOR did not answer");
    expect((await run("info", "down.pack")).stdout).toMatch(/Pending jobs +1\n/);
    server.reply = () => undefined;
    await run("rebuild", "down.pack");
    expect((await run("doctor", "down.pack")).stdout).toContain("1 vectors, 1 texts indexed");
  });

  test("whose server asks to wait ends its rebuild at one SIGTERM", async () => {
    const pack = "waiting.pack";
    await run("init", pack, "--plain");
    for (const text of [POT, "The bins go out on Monday"]) await run("store", pack, text);
    const before = server.received.length;
    const headers = { "retry-after": "3600" };
    server.reply = () => new Response("", { status: 429, headers });
    const rebuilding = desk.start(["rebuild", pack, "--all"], {
      ...env,
      SVC_EMBEDDING__TIMEOUT: "3600",
    });
    await until(async () => server.received.length > before);
    rebuilding.kill("SIGTERM");
    expect(await rebuilding.exited).toBe(130);
    server.reply = () => undefined;
    expect((await run("rebuild", pack)).code).toBe(0);
  });

  test("names the proxy of the environment that texts go through, without its credentials", async () => {
    const far = { ...env, SVC_EMBEDDING__BASE_URL: "http://models.example.com/v1" };
    const proxied = { ...far, HTTP_PROXY: `http://user:secret@${new URL(server.url).host}` };
    const host = `models.example.com through the proxy ${new URL(server.url).host}`;
    server.reply = () => new Response("", { status: 502 });
    const made = await desk.run(["init", "proxied.pack", "--plain"], { env: proxied });
    expect(made.stdout).toContain(`is sent to ${host} (openai) to be embedded.`);
    const info = await desk.run(["info", "proxied.pack"], { env: proxied });
    expect(info.stdout).toContain(`of openai: texts are sent to ${host}`);
    const stored = await desk.run(["store", "proxied.pack", POT], { env: proxied });
    expect(stored.stderr).toContain(`openai (acme-embed) through the proxy`);
    expect(made.stdout + info.stdout + stored.stderr).not.toContain("secret");
    server.reply = () => undefined;
  });

  test("is searched by words, and nothing is sent, where the settings do not name the model", async () => {
    await run("init", "quiet.pack", "--plain");
    await run("store", "quiet.pack", POT);
    const before = server.received.length;
    const { texts, stderr } = await found("quiet.pack", "flower pot", { OPENAI_API_KEY: KEY });
    expect(texts).toEqual([POT]);
    expect(stderr).toContain(
      "the embedding model of what is stored, acme-embed, is run by openai, which the settings do not name, so memories are found by words only: set embedding.provider (SVC_EMBEDDING__PROVIDER) to openai and embedding.model_name to acme-embed",
    );
    expect(server.received).toHaveLength(before);
    const { code } = await desk.run(["rebuild", "quiet.pack"]);
    expect(code).toBe(1);
  });

  test("is changed to and from a model of this program, and a run that was cut off goes on", async () => {
    await desk.run(["init", "change.pack", "--plain"]);
    for (const text of [POT, "Rent is due on the first", "Anna likes tea"]) {
      await desk.run(["store", "change.pack", text]);
    }
    server.reply = ({ body }) =>
      body.input.some((text) => text.includes("Anna"))
        ? new Response("", { status: 500 })
        : undefined;
    const broken = await run("rebuild", "change.pack", "--batch-size", "1");
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain("openai (acme-embed) has a problem (status 500)");
    expect(await modelOf("change.pack")).toMatchObject({ model: DEFAULT_MODEL.name });
    expect((await found("change.pack", "a hot drink", {})).texts[0]).toBe("Anna likes tea");

    server.reply = () => undefined;
    server.received.length = 0;
    const rebuilt = await run("rebuild", "change.pack", "--batch-size", "1");
    expect(rebuilt.stderr).toContain("is sent to");
    expect(rebuilt.stdout).toMatch(/Nodes embedded +1\n/);
    expect(server.received.map(({ body }) => body.input)).toEqual([["Anna likes tea"]]);
    expect(await modelOf("change.pack")).toMatchObject({ model: "acme-embed" });

    expect((await run("rebuild", "change.pack", "--model", "english")).code).toBe(0);
    expect(await modelOf("change.pack")).toMatchObject({ model: DEFAULT_MODEL.name });
    expect((await found("change.pack", "a hot drink", {})).texts[0]).toBe("Anna likes tea");
  });

  test("keeps the key out of its files, exports and receipts", async () => {
    const exported = await run("export", "a.pack");
    expect(exported.stdout).not.toContain(KEY);
    for (const name of readdirSync(desk.folder).filter((file) => file.startsWith("a.pack"))) {
      expect(readFileSync(join(desk.folder, name)).includes(KEY)).toBe(false);
    }
  });
});

describe("another local model", () => {
  function copyModel(name: string, pooling: object | undefined): string {
    const folder = join(desk.folder, name);
    cpSync(join(modelRoot(DEFAULT_MODEL), DEFAULT_MODEL.name), folder, { recursive: true });
    if (pooling !== undefined) {
      mkdirSync(join(folder, "1_Pooling"));
      writeFileSync(join(folder, "1_Pooling/config.json"), JSON.stringify(pooling));
    }
    const prompts = { prompts: { query: DEFAULT_MODEL.questionPrefix, document: "" } };
    writeFileSync(join(folder, "config_sentence_transformers.json"), JSON.stringify(prompts));
    return `./${name}`;
  }

  test("in a folder is used as its files say", async () => {
    const model = copyModel("my-model", { pooling_mode_cls_token: true });
    const settings = { SVC_EMBEDDING_MODEL_NAME: model };
    const made = await desk.run(["init", "mine.pack", "--plain"], { env: settings });
    expect(made.stdout).toContain("Its embedding model is my-model.\n");
    await desk.run(["store", "mine.pack", "Anna likes tea"], { env: settings });
    await desk.run(["store", "mine.pack", "Rent is due on the first"], { env: settings });
    const { model: name, version, dimension } = await modelOf("mine.pack");
    expect({ name, dimension }).toEqual({ name: "my-model", dimension: 384 });
    expect(version).toMatch(/^onnx-[0-9a-f]{12}$/);
    const { texts, stderr } = await found("mine.pack", "a hot drink", settings);
    expect(texts[0]).toBe("Anna likes tea");
    expect(stderr).not.toContain("Warning");

    const without = await found("mine.pack", "tea", {});
    expect(without.texts).toEqual(["Anna likes tea"]);
    expect(without.stderr).toContain("is a local one that the settings do not name");

    writeFileSync(
      join(desk.folder, model, "1_Pooling/config.json"),
      JSON.stringify({ pooling_mode_mean_tokens: true }),
    );
    const changed = await found("mine.pack", "tea", settings);
    expect(changed.stderr).toContain("the vectors of the pack are of the embedding model my-model");
  });

  test("on the hub is downloaded once, with the files that say how it is used", async () => {
    const folder = join(desk.folder, copyModel("on-hub", { pooling_mode_cls_token: true }));
    const asked: string[] = [];
    const hub = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const { pathname } = new URL(url);
        asked.push(pathname);
        const file = Bun.file(join(folder, pathname.replace("/acme/small/resolve/main/", "")));
        return file.size > 0 ? new Response(file) : new Response("", { status: 404 });
      },
    });
    const settings = {
      SVC_EMBEDDING_MODEL_NAME: "acme/small",
      SVC_MODELS__HUB_URL: `http://127.0.0.1:${hub.port}`,
      XDG_CACHE_HOME: join(desk.folder, "cache"),
    };
    try {
      const made = await desk.run(["init", "hub.pack", "--plain"], { env: settings });
      expect(made.stdout).toContain("Its embedding model is acme/small.\n");
      expect(asked).toContain("/acme/small/resolve/main/1_Pooling/config.json");
      const { length } = asked;
      await desk.run(["store", "hub.pack", "Anna likes tea"], { env: settings });
      expect((await found("hub.pack", "a hot drink", settings)).stderr).not.toContain("Warning");
      expect(asked).toHaveLength(length);
      expect((await modelOf("hub.pack")).model).toBe("acme/small");
    } finally {
      void hub.stop(true);
    }
    const lost = { ...settings, XDG_CACHE_HOME: join(desk.folder, "empty") };
    const { texts, stderr } = await found("hub.pack", "tea", lost);
    expect(texts).toEqual(["Anna likes tea"]);
    expect(stderr).toContain("memories are found by words only");
  });

  test("whose files do not say how a vector is made is refused, until the settings say it", async () => {
    const settings = { SVC_EMBEDDING_MODEL_NAME: copyModel("plain-model", undefined) };
    const refused = await desk.run(["init", "plain.pack", "--plain"], { env: settings });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("it has no 1_Pooling/config.json; set embedding.pooling");
    expect(readdirSync(desk.folder)).not.toContain("plain.pack");
    const env = { ...settings, SVC_EMBEDDING__POOLING: "cls" };
    expect((await desk.run(["init", "plain.pack", "--plain"], { env })).code).toBe(0);
  });

  test("that is gone leaves its pack searched by words", async () => {
    const settings = { SVC_EMBEDDING_MODEL_NAME: "./gone-model" };
    await desk.run(["init", "english.pack", "--plain"]);
    await desk.run(["store", "english.pack", "Anna likes tea"]);
    const { texts, stderr } = await found("english.pack", "a hot drink", settings);
    expect(texts).toEqual(["Anna likes tea"]);
    expect(stderr).toContain("gone-model cannot be used: it has no config.json");
    const refused = await desk.run(["init", "gone.pack", "--plain"], { env: settings });
    expect(refused.code).toBe(1);
  });
});
