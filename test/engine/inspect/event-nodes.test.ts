import { expect, test } from "bun:test";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  freshId,
  put,
} from "../../contract/samples.ts";
import { expectInvalid, useEngines } from "../engines.ts";

const { open } = useEngines();

test("memories of an event are all that cite it, retired ones too, by id", async () => {
  const { engine, store } = await open();
  const event = anEvent();
  // The raw note of an event has the id of the event, which is lower than the others.
  const raw = aNode(event, { id: event.id });
  const later = [
    aNode(anEvent(), { lifecycleState: "archived" }),
    aNode(anEvent(), { lifecycleState: "superseded" }),
    aNode(anEvent({ userId: "bob" })),
  ].map((node) => ({ ...node, evidenceRefs: [...node.evidenceRefs, event.id, event.id] }));
  const [archived, superseded] = later;
  const [unrelated] = await put(store, {});
  await store.admit(anAdmission([event]));
  await put(store, ...later.toReversed());
  await store.materialize([aMaterialization(event, raw)]);

  const found = await engine.getEventNodes(event.id, "ada");

  expect(found?.map(({ id }) => id)).toEqual(
    [raw, archived, superseded].flatMap((node) => node?.id ?? []),
  );
  expect(found?.[0]).toEqual(raw);
  expect(found?.map(({ lifecycleState }) => lifecycleState)).toEqual([
    "tentative",
    "archived",
    "superseded",
  ]);
  expect(await engine.getEventNodes(event.id.toUpperCase())).toEqual(found);
  expect(found?.some(({ id }) => id === unrelated?.id)).toBe(false);
});

test("an event without memories has none, a foreign or unknown one is not there", async () => {
  const { engine, store } = await open();
  const event = anEvent();
  await store.admit(anAdmission([event]));

  expect(await engine.getEventNodes(event.id, "ada")).toEqual([]);
  expect(await engine.getEventNodes(event.id, "bob")).toBeUndefined();
  expect(await engine.getEventNodes(freshId())).toBeUndefined();
  await expectInvalid(engine.getEventNodes("7"), { field: "event_id" });
  await expectInvalid(engine.getEventNodes(event.id, ""), { field: "user_id" });
});
