import { expect, test } from "bun:test";
import { z } from "zod";
import { NOBODY, reread } from "../../engine/lifecycle/memories.ts";
import { useApps } from "./engine-app.ts";

const storeAnswer = z.object({ node_id: z.string(), near: z.unknown() });

const { open } = useApps();

test("POST /v1/store answers with near memories and replaces what it names, or stores nothing", async () => {
  const { ask, engine, store } = await open();
  const keep = (content: string, given: object = {}) =>
    ask("/v1/store", { method: "POST", body: { user_id: "ada", content, ...given } });
  const first = await keep("the red kayak lies in the shed");
  expect(first.json).toMatchObject({ near: [] });
  const { node_id: old } = storeAnswer.parse(first.json);

  const second = await keep("the red kayak lies in the garage");
  expect(storeAnswer.parse(second.json).near).toEqual([
    {
      node_id: old,
      content: "the red kayak lies in the shed",
      lifecycle_state: "tentative",
      created_at: expect.any(String),
      similarity: expect.any(Number),
      identical: false,
    },
  ]);

  const unknown = await keep("gone", { supersedes: [old, NOBODY] });
  expect(unknown).toMatchObject({ status: 404 });
  const third = await keep("the kayak is sold", { supersedes: [old] });
  const { node_id: sold } = storeAnswer.parse(third.json);
  expect(await reread(engine, old)).toMatchObject({ supersededBy: sold });
  const refused = await keep("the kayak sank", { supersedes: [old] });
  expect(refused).toMatchObject({ status: 422 });
  expect(await store.countEvents("ada")).toBe(3);
});

test("POST /v1/store with a used Idempotency-Key stores and replaces nothing, for another text it is 409", async () => {
  const { ask, store } = await open();
  const headers = { "idempotency-key": "0123456789abcdef0123456789abcdef" };
  const keep = (content: string, given: object = {}) =>
    ask("/v1/store", { method: "POST", body: { user_id: "ada", content, ...given }, headers });
  const old = storeAnswer.parse(
    (
      await ask("/v1/store", {
        method: "POST",
        body: { user_id: "ada", content: "the kayak is red" },
      })
    ).json,
  );

  const first = await keep("the kayak is blue", { supersedes: [old.node_id] });
  const again = await keep("the kayak is blue", { supersedes: [old.node_id] });

  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.json["node_id"]).toBe(first.json["node_id"] as never);
  expect(await store.countEvents("ada")).toBe(2);
  expect(await keep("the kayak is green")).toMatchObject({
    status: 409,
    json: { code: "request_conflict" },
  });
});
