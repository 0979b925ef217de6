/** Names of owners, conversations and speakers that look alike. Real engines, through HTTP. */
import { expect, test } from "bun:test";
import { useApps } from "./http/engine-app.ts";

const { open } = useApps();
const NFC = "josé";
const NFD = "jose\u0301";
const FORMS = [NFC, NFD, ` ${NFC}`, `${NFD}\u00a0`, `${NFD}\n`];

test("one owner, conversation and speaker are found under every form of their name", async () => {
  const { ask, engine } = await open();
  for (const [index, name] of FORMS.entries()) {
    const body = { user_id: name, session_id: name, speaker: name.trim(), content: `tea ${index}` };
    expect((await ask("/v1/ingest", { body })).status).toBe(200);
  }
  expect(await engine.listOwners()).toMatchObject([{ userId: NFC, memories: FORMS.length }]);
  for (const name of FORMS) {
    const encoded = encodeURIComponent(name);
    const events = await ask(`/v1/events?user_id=${encoded}&session_id=${encoded}`);
    expect(events.json["count"]).toBe(FORMS.length);
    const found = await ask("/v1/retrieve", { body: { user_id: name, query: "tea" } });
    expect(found.json["results"]).toHaveLength(FORMS.length);
  }
  const nodes = await engine.queryNodes({ userId: NFC });
  expect(new Set(nodes.map(({ metadata }) => metadata?.["svc_speaker_v1"]))).toEqual(
    new Set([NFC]),
  );
});

test("a key of an owner in one form opens the memories of the other, and nobody else's", async () => {
  const { ask, engine } = await open({ userKeys: { [NFD]: "key" } });
  await engine.store({ userId: NFC, content: "tea" });
  await engine.store({ userId: "jose", content: "coffee" });
  for (const user_id of [undefined, NFC, NFD]) {
    const { json } = await ask("/v1/retrieve", {
      key: "key",
      body: { user_id, query: "tea coffee" },
    });
    expect(json["results"]).toMatchObject([{ content: "tea" }]);
  }
  const other = await ask("/v1/retrieve", { key: "key", body: { user_id: "jose", query: "x" } });
  expect(other.status).toBe(403);
  expect((await ask("/v1/caller", { key: "key" })).json["user_id"]).toBe(NFC);
  for (const name of FORMS) expect((await engine.stats(name)).nodeCount).toBe(1);
  const { requestId } = (await engine.retrieve({ userId: NFC, query: "tea" })).metadata;
  for (const name of FORMS) {
    expect(await engine.getRetrievalReceipt(requestId, name)).toBeDefined();
    expect(await engine.explain(requestId, name)).toBeDefined();
  }
});
