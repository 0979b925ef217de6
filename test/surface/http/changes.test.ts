/** The feed of changes: in pages, and as an answer that does not end. */
import { expect, test } from "bun:test";
import { answerStream, type FeedPage } from "../../../src/surface/http/change-stream.ts";
import { useEngines } from "../../engine/engines.ts";
import { expectRefused, KEYS, useApps } from "./engine-app.ts";
import { useServers } from "./serving.ts";

const { open } = useApps();
const { open: openEngine } = useEngines();
const serve = useServers();

type Told = { readonly id: string; readonly change: string; readonly content: string | undefined };

/** Reads events of a stream; each call waits for as many more. */
async function reader(url: string, headers: Readonly<Record<string, string>> = {}) {
  const ended = new AbortController();
  const answer = await fetch(url, {
    headers: { accept: "text/event-stream", authorization: "Bearer key-a", ...headers },
    signal: ended.signal,
  });
  const stream = answer.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const take = async (count: number): Promise<readonly Told[]> => {
    const told: Told[] = [];
    while (told.length < count) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const { value, done } = (await stream?.read()) ?? { done: true };
        if (done) break;
        text += decoder.decode(value, { stream: true });
        continue;
      }
      const [, id = "", data = ""] = /^id: (.*)\ndata: (.*)$/m.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (data === "") continue;
      const { change, node } = JSON.parse(data);
      told.push({ id, change, content: node?.content });
    }
    return told;
  };
  return { answer, take, leave: () => ended.abort() };
}

test("a page says what became of an owner's memories, and the next one goes on after it", async () => {
  const { ask } = await open(KEYS);
  const empty = await ask("/v1/changes", { key: "key-a" });
  expect(empty.json).toEqual({ changes: [], count: 0, has_more: false, next_cursor: "0" });
  const tea = await ask("/v1/store", { key: "key-a", body: { content: "tea" } });
  await ask("/v1/store", { key: "key-b", body: { content: "coffee" } });
  await ask(`/v1/nodes/${tea.json["node_id"]}/archive`, { key: "key-a", method: "PUT" });
  const first = await ask("/v1/changes?limit=1", { key: "key-a" });
  expect(first.json).toMatchObject({
    changes: [
      {
        ...{ cursor: "1", change: "stored", state: "tentative", node_id: tea.json["node_id"] },
        node: { content: "tea", lifecycle_state: "archived" },
      },
    ],
    ...{ count: 1, has_more: true, next_cursor: "1" },
  });
  const next = await ask("/v1/changes?since=1", { key: "key-a" });
  expect(next.json).toMatchObject({ changes: [{ change: "archived" }], next_cursor: "2" });
  const now = await ask("/v1/changes?since=now", { key: "key-a" });
  expect(now.json).toEqual({ changes: [], count: 0, has_more: false, next_cursor: "2" });
  for (const since of ["3", "-1", "1.5", "tomorrow"]) {
    const refused = await ask(`/v1/changes?since=${since}`, { key: "key-a" });
    expectRefused("invalid_argument", refused, /^since: /);
  }
  const foreign = await ask("/v1/changes?user_id=bob", { key: "key-a" });
  expectRefused("forbidden", foreign, /user_id/);
});

test("a stream tells each change once, over connections and to the owner alone, and nothing of what was forgotten", async () => {
  const { engine } = await openEngine();
  const { url, stop } = await serve({ engine, auth: KEYS });
  const feed = `${url}/v1/changes`;
  await engine.store({ content: "tea", userId: "ada" });
  const first = await reader(feed);
  expect(first.answer.headers.get("content-type")).toBe("text/event-stream");
  expect(await first.take(1)).toEqual([{ id: "1", change: "stored", content: "tea" }]);
  await engine.store({ content: "coffee", userId: "bob" });
  const cocoa = await engine.storeWithReceipt({ content: "cocoa", userId: "ada" });
  expect(await first.take(1)).toEqual([{ id: "2", change: "stored", content: "cocoa" }]);
  first.leave();

  const { confirm } = await engine.forget({ ids: [cocoa.nodeId], userId: "ada", mode: "preview" });
  await engine.forget({ ids: [cocoa.nodeId], userId: "ada", mode: "erase", confirm });
  const again = await reader(feed, { "last-event-id": "1" });
  expect(await again.take(2)).toEqual([
    { id: "2", change: "stored", content: undefined },
    { id: "3", change: "forgotten", content: undefined },
  ]);
  const fresh = await reader(`${feed}?since=now`);
  await engine.store({ content: "water", userId: "ada" });
  expect(await fresh.take(1)).toEqual([{ id: "4", change: "stored", content: "water" }]);
  expect((await reader(feed, { authorization: "Bearer no" })).answer.status).toBe(401);
  expect((await reader(feed, { "last-event-id": "9" })).answer.status).toBe(422);
  const head = await fetch(feed, {
    method: "HEAD",
    headers: { accept: "text/event-stream", authorization: "Bearer key-a" },
  });
  expect(head.headers.get("content-type")).toBe("application/json");
  await stop();
  // Both end with the server.
  expect(await Promise.all([again.take(9), fresh.take(9)])).toEqual([
    [{ id: "4", change: "stored", content: "water" }],
    [],
  ]);
});

test("a stream shows that it lives, ends with its key, and reads no page ahead of its reader", async () => {
  const at = (place: number): FeedPage => ({
    changes: [{ cursor: String(place) }],
    next_cursor: String(place),
  });
  const times = { look: 1, heartbeat: 3 };
  const { signal } = new AbortController();
  let pages = 0;
  const quiet = { changes: [], next_cursor: "7" };
  const living = answerStream(quiet, async () => quiet, signal, times).body?.getReader();
  const texts = [await living?.read(), await living?.read()];
  expect(texts.map((text) => new TextDecoder().decode(text?.value))).toEqual([
    "retry: 1000\nid: 7\n\n",
    ":\n\n",
  ]);
  await living?.cancel();

  const slow = answerStream(
    at(1),
    async (since) => {
      pages += 1;
      if (pages > 1) throw new Error("the key was revoked");
      return at(Number(since) + 1);
    },
    signal,
    times,
  ).body?.getReader();
  await slow?.read();
  await slow?.read();
  expect(pages).toBe(0);
  await slow?.read();
  expect([pages, (await slow?.read())?.done]).toEqual([1, true]);
});
