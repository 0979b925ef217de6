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
