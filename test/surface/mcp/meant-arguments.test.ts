/** Arguments as clients send them. */
import { describe, expect, test } from "bun:test";
import { idIn, useTools } from "./served-tools.ts";

const { open } = useTools();

type Json = Readonly<Record<string, unknown>>;

async function connect() {
  const ada = await (await open()).connect("ada");
  const stored = async (content: string, args: Json = {}) =>
    idIn(await ada.answer("memory_store", { content, ...args }), "node_id");
  const node = (id: string) => ada.answer("memory_get_node", { node_id: id });
  return { ...ada, stored, node };
}

describe("an argument is taken for what is meant", () => {
  test("where its text is the JSON of that", async () => {
    const { answer, stored, node } = await connect();
    const [one, two] = [await stored("tea"), await stored("tea, green")];
    const both = JSON.stringify([one, `memory://nodes/${two}`]);
    const id = await stored("coffee", { metadata: '{"a":[1]}', supersedes: both });
    expect(await node(id)).toMatchObject({ metadata: { a: [1] } });
    expect(await node(one)).toMatchObject({ superseded_by: id });
    expect(await node(two)).toMatchObject({ superseded_by: id });
    const asked = { query: "coffee", limit: "5", min_score: "0.0", include_context: "true" };
    expect(await answer("memory_retrieve", asked)).toHaveProperty("context");
    const scoped = { query: "coffee", scope: '["personal","project"]' };
    expect(await answer("memory_retrieve", scoped)).toMatchObject({ count: 1 });
  });

  test("where a day stands for its beginning", async () => {
    const { stored, node } = await connect();
    const id = await stored("we ship the app", { event_time: "2026-11-20" });
    expect(await node(id)).toMatchObject({ event_time: "2026-11-20T00:00:00.000000Z" });
  });

  test("inside of another as well", async () => {
    const { answer, call } = await connect();
    const multipliers = { graph: "2", lexical: 1 };
    for (const ranking_multipliers of [multipliers, JSON.stringify(multipliers)]) {
      const told = await call("memory_retrieve", { query: "tea", ranking_multipliers });
      // The engine's own refusal: as numbers they were taken.
      expect(told.structured["error"]).toContain("have no meaning with fusion rrf");
    }
    const items = [{ content: "5", session_id: "s", metadata: '{"a":"1"}' }, { content: "6" }];
    expect(await answer("memory_ingest_fast_many", { items })).toMatchObject({ accepted: 2 });
  });

  test("where one id stands for a list of it, or a URI for an id", async () => {
    const { answer, stored, node } = await connect();
    const old = await stored("tea");
    const id = await stored("coffee", { supersedes: `memory://nodes/${old}` });
    expect(await node(old)).toMatchObject({ superseded_by: id });
    expect(await answer("memory_get_node", { node_id: `memory://nodes/${id}` })).toMatchObject({
      id,
    });
  });

  test("where one entry stands for a list of it", async () => {
    const { answer, node, stored } = await connect();
    const entry = { content: "x", metadata: '{"a":"1"}' };
    for (const items of [
      '{"content":"x"}',
      entry,
      JSON.stringify(entry),
      [entry],
      [JSON.stringify(entry)],
    ]) {
      expect(await answer("memory_ingest_fast_many", { items })).toMatchObject({ accepted: 1 });
    }
    const old = await stored("tea");
    const id = await stored("coffee", { supersedes: JSON.stringify(old) });
    expect(await node(old)).toMatchObject({ superseded_by: id });
  });

  test("where a list of one stands for an id, Python's word for a truth, an empty text for absent", async () => {
    const { answer, stored } = await connect();
    const id = await stored("tea");
    expect(await answer("memory_get_node", { node_id: [`memory://nodes/${id}`] })).toMatchObject({
      id,
    });
    const asked = { query: "tea", include_context: "True", limit: "", time_from: " " };
    expect(await answer("memory_retrieve", asked)).toHaveProperty("context");
    const pinned = await answer("memory_archive_node", { node_id: id, pinned: "False" });
    expect(pinned).toMatchObject({ lifecycle_state: "tentative", pinned: false });
  });

  test("but never a text that may be a text", async () => {
    const { stored, node } = await connect();
    for (const content of ["5", "true", '{"a":1}', '["x"]', "memory://nodes/7", "null"]) {
      expect(await node(await stored(content))).toMatchObject({ content });
    }
  });
});

test.each([
  { args: { metadata: '{"a":1,"a":2}' }, says: "metadata: " },
  { args: { metadata: "[1]" }, says: 'metadata: "[1]" is not an object' },
  {
    args: { metadata: '{"id":1234567890123456789}' },
    says: "metadata.id: 1234567890123456789 has",
  },
  { args: { supersedes: {} }, says: "supersedes: " },
  { args: { supersedes: 7 }, says: "supersedes: 7 is not a list" },
  { args: { supersedes: "tea" }, says: 'supersedes[0]: "tea" is not a UUID' },
])("what is meant by $args is said", async ({ args, says }) => {
  const { call } = await connect();
  const { structured } = await call("memory_store", { content: "x", ...args });
  expect(structured["error"]).toContain(says);
  expect(structured["error"]).not.toContain("characters");
});
