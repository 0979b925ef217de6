/** What a page asks about its key, the owners, and what has happened. */
import { describe, expect, test } from "bun:test";
import { noUse, remembering } from "../../../src/adapters/embedding/remember.ts";
import { wordEmbedder } from "../../engine/engines.ts";
import { ADA } from "../operations/world.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();
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
describe("an examination", () => {
  const examined = { ok: true, passed: 1, warnings: 0, failures: 0 };

  test("answers as svc doctor does", async () => {
    const checks = [{ name: "pack", status: "ok", message: "is sound" }] as const;
    const { app } = await open({}, {}, { examine: async () => ({ ...examined, checks }) });
    const answer = await app.request("/v1/doctor");
    expect(await answer.json()).toEqual({ ...examined, checks });
  });
});

describe("changes and uses", () => {});
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
