/** What a page asks about its key, the owners, and what has happened. */
import { describe, expect, test } from "bun:test";
import { noUse, remembering } from "../../../src/adapters/embedding/remember.ts";
import { wordEmbedder } from "../../engine/engines.ts";
import { ADA, settle } from "../operations/world.ts";
import { type Answer, KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

type Row = Readonly<Record<string, unknown>>;

function rows({ json }: Answer, name: string): readonly Row[] {
  const list: unknown = json[name];
  if (!Array.isArray(list)) throw new Error(JSON.stringify(json));
  return list;
}

describe("a caller", () => {
  test("learns whose key it has", async () => {
    const { ask } = await open(KEYS);
    const operator = await open({ apiKey: "key-o" });

    expect((await ask("/v1/caller", { key: "key-a" })).json).toEqual({
      ...{ user_id: "ada", default_user_id: "ada", is_operator: false },
      ...{ read_only: false, version: "9.9.9" },
    });
    expect((await operator.ask("/v1/caller", { key: "key-o" })).json).toMatchObject({
      ...{ user_id: null, default_user_id: null, is_operator: true },
    });
    await operator.engine.usePackOwner("ada", "test");
    expect((await operator.ask("/v1/caller", { key: "key-o" })).json).toMatchObject({
      ...{ user_id: null, default_user_id: "ada" },
    });
  });

  test("sees in the statistics what is its own, and the size of the pack only as an operator", async () => {
    const { ask, engine } = await open(KEYS);
    await ask("/v1/store", { key: "key-a", body: { content: "tea" } });
    await ask("/v1/store", { key: "key-b", body: { content: "coffee" } });
    const bobs = await ask("/v1/store", { key: "key-b", body: { content: "cocoa" } });
    await engine.archive(String(bobs.json["node_id"]));
    await ask("/v1/retrieve", { key: "key-b", body: { query: "tea" } });
    const free = await open();

    const details = async (key: string) => (await ask("/v1/stats", { key })).json["details"];
    expect(await details("key-a")).toMatchObject({
      ...{ bytes: null, encrypted: false, read_only: false, receipts: 0 },
      ...{ states: { tentative: 1 }, model: { dimension: expect.any(Number) } },
    });
    expect(await details("key-b")).toMatchObject({
      ...{ states: { archived: 1, tentative: 1 }, receipts: 1 },
    });
    expect((await free.ask("/v1/stats")).json["details"]).toMatchObject({
      bytes: expect.any(Number),
    });
  });
});

describe("the events of a session", () => {
  test("are read in the order of the conversation, and sessions the latest first", async () => {
    const { ask } = await open(KEYS);
    const say = (key: string, content: string, session: string) =>
      ask("/v1/store", { key, body: { content, session_id: session } });
    await say("key-a", "one", "first talk");
    await say("key-a", "two", "first talk");
    await say("key-b", "secret", "first talk");
    await say("key-a", "three", "second_talk");
    const asAda = (path: string) => ask(path, { key: "key-a" });

    const events = await asAda("/v1/events?session_id=first%20talk&order=oldest&limit=1");
    const cursor = encodeURIComponent(String(events.json["next_cursor"]));
    const rest = await asAda(`/v1/events?session_id=first%20talk&order=oldest&cursor=${cursor}`);
    const sessions = await asAda("/v1/sessions?limit=1");
    const next = encodeURIComponent(String(sessions.json["next_cursor"]));
    const last = await asAda(`/v1/sessions?cursor=${next}`);

    expect(
      [...rows(events, "events"), ...rows(rest, "events")].map((row) => row["content"]),
    ).toEqual(["one", "two"]);
    expect([events.json["has_more"], rest.json["has_more"]]).toEqual([true, false]);
    expect(rows(await asAda("/v1/events"), "events")).toHaveLength(3);
    expect(rows(sessions, "sessions")).toMatchObject([
      { session_id: "second_talk", events: 1, memories: 1 },
    ]);
    expect(rows(last, "sessions")).toMatchObject([
      { session_id: "first talk", events: 2, memories: 2 },
    ]);
    expect(last.json["next_cursor"]).toBeNull();
  });
});

describe("an examination", () => {
  const examined = { ok: true, passed: 1, warnings: 0, failures: 0 };

  test("answers as svc doctor does", async () => {
    const checks = [{ name: "pack", status: "ok", message: "is sound" }] as const;
    const { app } = await open({}, {}, { examine: async () => ({ ...examined, checks }) });
    const answer = await app.request("/v1/doctor");
    expect(await answer.json()).toEqual({ ...examined, checks });
  });
});

describe("changes and uses", () => {
  async function changed() {
    const { ask } = await open(KEYS);
    const asAda = (path: string, body?: object, method?: string) =>
      ask(path, { key: "key-a", ...(body && { body }), ...(method && { method }) });
    const stored = await asAda("/v1/store", { content: "Ada drinks green tea" });
    const id = String(stored.json["node_id"]);
    await asAda(`/v1/nodes/${id}/pin`, { pinned: true }, "PUT");
    await asAda(`/v1/nodes/${id}/promote`, {}, "PUT");
    return { ask, asAda, id };
  }

  test("tell in which answers a memory was", async () => {
    const { ask, asAda, id } = await changed();
    await ask("/v1/retrieve", {
      key: "key-a",
      body: { query: "green tea" },
      headers: { "svc-client": "claude" },
    });
    await asAda("/v1/retrieve", { query: "green tea", keep_receipt: false });

    const shown = await asAda(`/v1/nodes/${id}/retrievals`);
    expect(shown.json).toMatchObject({
      retrievals: [
        { client: "claude", query: "green tea", rank: 1, representation: "full", cited: false },
      ],
      ...{ count: 1, has_more: false, next_cursor: null },
    });
    const request_id = rows(shown, "retrievals")[0]?.["request_id"];
    await asAda("/v1/answer-citations", { request_id, answer_id: "a", cited_node_ids: [id] });
    expect(rows(await asAda(`/v1/nodes/${id}/retrievals`), "retrievals")).toMatchObject([
      { request_id, cited: true },
    ]);
    const foreign = await ask(`/v1/nodes/${id}/retrievals`, { key: "key-b" });
    expect([foreign.status, foreign.json["code"]]).toEqual([404, "not_found"]);
  });
});

test("what a key erases tells nothing of what others hold, whether a guess is right or not", async () => {
  const opened = await open(KEYS);
  const has = await settle(opened);
  const { ask } = opened;
  const asBob = async (path: string, body?: unknown): Promise<Answer["json"]> => {
    const { status, json } = await ask(path, { body, key: "key-b" });
    expect([path, status]).toEqual([path, 200]);
    return json;
  };
  const told: unknown[] = [];
  for (const guess of [ADA.word, "Zx9privacy", "zx9private", "zx9privacy", "Ada tea", "Ada tee"]) {
    const ids = [String((await asBob("/v1/store", { content: guess }))["node_id"])];
    const confirm = (await asBob("/v1/forget", { ids }))["confirm"];
    const answer = await asBob("/v1/forget", { ids, mode: "erase", confirm });
    const known = await asBob(`/v1/forget/${answer["forget_id"]}`);
    for (const id of [has.tea.node, has.tea.event])
      expect(JSON.stringify([answer, known])).not.toContain(id);
    const receipt = Object(answer["receipt"]);
    told.push([answer["stage"], answer["counts"], receipt.scan, known["counts"]]);
  }
  expect(told).toEqual(told.map(() => told[0]));
});

test("an owner's numbers tell nothing of what others have", async () => {
  const use = noUse();
  const words = wordEmbedder();
  const { embed } = remembering(
    (text) => words.embedDocument(text),
    () => false,
    use,
  );
  const embedder = { ...words, embedDocument: embed, use: () => ({ ...use }) };
  const { ask } = await open(KEYS, { embedder });
  await ask("/v1/store", { key: "key-a", body: { content: ADA.word } });
  const risen: number[] = [];
  for (const content of [ADA.word, `${ADA.word}!`]) {
    const before = use.computed;
    await ask("/v1/store", { key: "key-b", body: { content } });
    risen.push(use.computed - before);
    const { json } = await ask("/v1/stats", { key: "key-b" });
    expect(json).toMatchObject({ details: { embeddings: null, bytes: null } });
  }
  expect(risen).toEqual([1, 1]);
});
