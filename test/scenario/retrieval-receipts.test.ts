/** A question over HTTP, its receipt, what was cited of it, and why: the built program as its users meet it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sha256Hex } from "../../src/lib/hashing.ts";

// Each test waits for processes that load the model.
setDefaultTimeout(120_000);

/** The built program; the checks build it before they run the tests. */
const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");

type Environment = Readonly<Record<string, string>>;
type Json = Record<string, unknown>;
type Server = {
  /** Sends as the owner of a key, or as nobody. */
  send(
    key: string | undefined,
    path: string,
    body?: object,
  ): Promise<{ status: number; json: Json }>;
  stop(): Promise<void>;
};

let folder: string;
let pack: string;
let server: Server;

function spawn(args: readonly string[], extra: Environment = {}) {
  return Bun.spawn([EXECUTABLE, ...args], {
    cwd: folder,
    // No setting of the developer's own machine reaches the program.
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, NO_COLOR: "1", ...extra },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(...args: readonly string[]) {
  const child = spawn(args);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

async function serve(extra: Environment = {}): Promise<Server> {
  const child = spawn(["serve", "--db-path", pack, "--port", "0"], {
    SVC_API_USER_KEYS: JSON.stringify({ ada: "key-of-ada", bob: "key-of-bob" }),
    ...extra,
  });
  const reader = child.stderr.getReader();
  let said = "";
  while (!/listening on .*\n/.test(said)) {
    const { value, done } = await reader.read();
    if (done) break;
    said += new TextDecoder().decode(value);
  }
  // Not cancelled: the program goes on writing.
  reader.releaseLock();
  const url = /listening on (\S+)/.exec(said)?.[1];
  if (url === undefined) throw new Error(`the server did not start:\n${said}`);
  return {
    send: async (key, path, body) => {
      const answer = await fetch(url + path, {
        headers: {
          "content-type": "application/json",
          ...(key !== undefined && { authorization: `Bearer key-of-${key}` }),
        },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      });
      // SAFETY: every answer of this server is JSON; what it holds is what is asserted.
      return { status: answer.status, json: (await answer.json()) as Json };
    },
    stop: async () => {
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
    },
  };
}

const MEMORIES = [
  "The dog Biscuit is afraid of thunder.",
  "Biscuit sleeps in the kitchen.",
  "The quarterly report is due in April.",
];
const QUESTION = { query: "What is Biscuit afraid of?" };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-receipts-"));
  pack = join(folder, "memory.pack");
  server = await serve();
  for (const owner of ["ada", "bob"]) {
    for (const content of MEMORIES) {
      const stored = await server.send(owner, "/v1/store", { content, scope: "personal" });
      expect(stored.status).toBe(200);
    }
  }
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Asks as an owner and gives what a receipt has to agree with. */
async function ask(owner: string, more: object = {}) {
  const { status, json } = await server.send(owner, "/v1/retrieve", { ...QUESTION, ...more });
  expect(status).toBe(200);
  // SAFETY: the shape of the answer is what other tests assert.
  const { results, bundle, metrics } = json as {
    results: { node_id: string; content: string; score: number; semantic_relevance?: number }[];
    bundle: { rendered_context: string; excluded_ids: string[] };
    metrics: { request_id: string; receipt_persisted: boolean };
  };
  return { results, bundle, metrics, id: metrics.request_id };
}

describe("an answer over HTTP", () => {
  test("has a receipt for its owner, which proves itself", async () => {
    const { results, bundle, metrics, id } = await ask("ada");
    expect(results.map(({ content }) => content)[0]).toBe(MEMORIES[0] ?? "");
    expect(metrics.receipt_persisted).toBe(true);

    const { status, json } = await server.send("ada", `/v1/retrievals/${id}`);

    expect(status).toBe(200);
    const { checksum, ...receipt } = json;
    expect(sha256Hex(JSON.stringify(receipt))).toBe(String(checksum));
    expect(receipt).toMatchObject({
      request_id: id,
      user_id: "ada",
      query: QUESTION.query,
      context_sha256: sha256Hex(bundle.rendered_context),
    });
    expect(receipt["candidates"]).toMatchObject(
      results.map(({ node_id, score, semantic_relevance, content }) => ({
        node_id,
        score,
        semantic_relevance,
        content_sha256: sha256Hex(content),
        in_context: true,
      })) as never,
    );
    for (const text of MEMORIES) expect(JSON.stringify(json)).not.toContain(text);
  });

  test("is nobody else's", async () => {
    const { id } = await ask("ada");
    const path = `/v1/retrievals/${id}`;

    expect((await server.send("bob", path)).status).toBe(404);
    expect((await server.send("bob", `${path}?user_id=ada`)).status).toBe(403);
    expect((await server.send("eve", path)).status).toBe(401);
    expect((await server.send(undefined, path)).status).toBe(401);
    expect((await server.send("ada", path)).status).toBe(200);
    const own = (await ask("bob")).results.map(({ node_id }) => node_id);
    const hers = (await ask("ada")).results.map(({ node_id }) => node_id);
    expect(own.filter((nodeId) => hers.includes(nodeId))).toEqual([]);
  });

  test("takes reports of what was cited, and lists them for their owner", async () => {
    const { results, id } = await ask("ada", { limit: 2 });
    const cited = results.map(({ node_id }) => node_id);
    const [foreign] = (await ask("bob")).results;
    const citation_id = "01900000-0000-7000-8000-00000000000c";
    const report = { citation_id, request_id: id, answer_id: "a1", cited_node_ids: cited };
    const post = (owner: string, more: object = {}) =>
      server.send(owner, "/v1/answer-citations", { ...report, ...more });

    expect((await post("bob")).status).toBe(404);
    expect((await post("ada", { cited_node_ids: [foreign?.node_id] })).status).toBe(400);
    const first = await post("ada");
    const again = await post("ada");
    const other = await post("ada", { answer_id: "a2" });

    expect([first.status, again.status, other.status]).toEqual([200, 200, 409]);
    expect(again.json).toEqual(first.json);
    expect(first.json).toMatchObject({ request_id: id, cited_node_ids: cited, user_id: "ada" });
    const kept = await server.send("ada", `/v1/retrievals/${id}`);
    expect(first.json["receipt_checksum"]).toBe(kept.json["checksum"] as string);
    expect((await server.send("ada", "/v1/answer-citations")).json).toEqual([first.json] as never);
    expect((await server.send("bob", "/v1/answer-citations")).json).toEqual([] as never);
    const one = `/v1/answer-citations/${citation_id}`;
    expect((await server.send("ada", one)).json).toEqual(first.json);
    expect((await server.send("bob", one)).status).toBe(404);
  });

  test("is explained on the command line while the server runs and after it", async () => {
    const { results, id } = await ask("ada", { limit: 2, token_budget: 160 });

    const told = await run("explain", id, "--db-path", pack);
    const wire = await run("explain", id, "--db-path", pack, "--format", "json");
    const unknown = await run("explain", "01900000-0000-7000-8000-0000000000ff", "--db-path", pack);

    expect([told.code, wire.code]).toEqual([0, 0]);
    expect(told.stdout).toContain(QUESTION.query);
    expect(told.stdout).toContain("In the context, in its order:");
    expect(told.stdout).toContain("Not in the context:");
    for (const text of MEMORIES) {
      expect(told.stdout).toContain(text);
      expect(wire.stdout).toContain(text);
    }
    const { in_context: inside, not_in_context: outside } = JSON.parse(wire.stdout);
    const named = [...inside, ...outside].map((one: { node_id: string }) => one.node_id);
    expect(named.length).toBe(3);
    for (const { node_id } of results) expect(named).toContain(node_id);
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain("01900000-0000-7000-8000-0000000000ff");
    expect(unknown.stderr).not.toContain("    at ");
  });

  test("is given to any question that is text, and to nothing else", async () => {
    const odd = [
      '" * NEAR ( OR NOT ^ : -',
      "🌂",
      "雷が怖い犬は？",
      "\u0000",
      "",
      "dog ".repeat(25_000),
    ];
    for (const query of odd) {
      const { results, id } = await ask("ada", { query });
      expect([query.slice(0, 30), results.length]).toEqual([query.slice(0, 30), 3]);
      const kept = await server.send("ada", `/v1/retrievals/${id}`);
      expect(kept.json["query"]).toBe(query);
    }

    const half = await server.send("ada", "/v1/retrieve", { query: "\ud800" });
    const number = await server.send("ada", "/v1/retrieve", { query: 7 });
    expect([half.status, number.status]).toEqual([422, 422]);
    expect(half.json["detail"]).toContain("query");
    expect(number.json["detail"]).toContain("query");
  });

  test("under weighted fusion has no relevance, and earlier receipts still prove themselves", async () => {
    const before = await ask("ada");
    await server.stop();
    server = await serve({ SVC_SCORING__FUSION: "weighted" });

    const after = await ask("ada");
    const receipts = await Promise.all(
      [before.id, after.id].map((id) => server.send("ada", `/v1/retrievals/${id}`)),
    );
    const weightedOnly = await server.send("ada", "/v1/retrieve", {
      ...QUESTION,
      ranking_multipliers: { lexical: 2 },
    });

    expect(before.results.every((result) => "semantic_relevance" in result)).toBe(true);
    expect(JSON.stringify([after.results, after.bundle])).not.toContain("semantic_relevance");
    expect(after.results.map(({ content }) => content)[0]).toBe(MEMORIES[0] ?? "");
    expect(receipts.map(({ status }) => status)).toEqual([200, 200]);
    expect(receipts.map(({ json }) => JSON.stringify(json).includes("semantic_relevance"))).toEqual(
      [true, false],
    );
    expect(weightedOnly.status).toBe(200);
  });
});
