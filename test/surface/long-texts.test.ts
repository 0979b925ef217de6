/** Answers about memories with very long texts. Real engine and pack. */
import { expect, test } from "bun:test";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { useApps } from "./http/engine-app.ts";
import { idIn, useTools } from "./mcp/served-tools.ts";

const MI = 1024 * 1024;
const TEXTS = [
  `The invoice of spring. ${"€ and more ".repeat(300_000)}`,
  `The invoice of summer. ${"a word and more ".repeat(300_000)}`,
  `The invoice of autumn. ${"an 💡 and more ".repeat(300_000)}`,
];
const SHORT = "The invoice of winter is paid.";

type Hit = { node_id: string; content: string; content_length?: number; metadata_length?: number };

const { open } = useApps();
const { open: openTools } = useTools();

test("a question to long texts gets a bounded answer, the lengths of the whole, and a receipt of the whole", async () => {
  const { ask, engine } = await open();
  const metadata = { log: "m".repeat(3 * MI) };
  for (const content of TEXTS) await engine.store({ userId: "ada", content, metadata });
  await engine.store({ userId: "ada", content: SHORT });
  let turns = 0;
  let isAnswered = false;
  const spin = (): void => {
    turns += 1;
    if (!isAnswered) setImmediate(spin);
  };
  spin();
  const body = { user_id: "ada", query: "invoice", limit: 100, explain: true };
  const { json } = await ask("/v1/retrieve", { body });
  isAnswered = true;

  expect(JSON.stringify(json).length).toBeLessThan(9 * MI);
  // SAFETY: the answer of this route.
  const results = json["results"] as readonly Hit[];
  expect(results).toHaveLength(4);
  for (const { node_id, content, content_length, metadata_length } of results) {
    if (content === SHORT) {
      expect(content_length).toBeUndefined();
      continue;
    }
    const whole = TEXTS.find((text) => text.startsWith(content)) ?? "";
    expect(content.length).toBeGreaterThan(100_000);
    expect(content.isWellFormed()).toBe(true);
    expect(content_length).toBe(whole.length);
    expect(metadata_length).toBeGreaterThan(3 * MI);
    expect((await ask(`/v1/nodes/${node_id}`)).json["content"]).toBe(whole);
    const receipt = JSON.stringify(json["receipt"]);
    expect(receipt).toContain(sha256Hex(whole));
  }
  // Reading, judging and hashing of one long text keep nobody waiting for the next one.
  expect(turns).toBeGreaterThan(3 * TEXTS.length);
  const { request_id } = json["receipt"] as { readonly request_id: string };
  const told = await ask(`/v1/retrievals/${request_id}/explanation?user_id=ada`);
  expect(JSON.stringify(told.json).length).toBeLessThan(9 * MI);
  expect(told.json["not_in_context"]).toMatchObject([
    { content_length: expect.any(Number) },
    { content_length: expect.any(Number) },
    { content_length: expect.any(Number) },
  ]);
}, 60_000);

test("a tool's answer about long texts is bounded, too, and shows equal beginnings apart", async () => {
  const { connect, engine } = await openTools();
  const same = "An invoice again. ".repeat(200_000);
  await engine.store({ userId: "ada", content: `${same} spring` });
  await engine.store({ userId: "ada", content: `${same} summer` });
  const { answer } = await connect("ada");
  const told = await answer("memory_retrieve", {
    ...{ query: "invoice", limit: 10, include_context: true },
  });
  // No budget is large enough, and nobody counts them to say so.
  expect(told).toMatchObject({ context: "" });
  expect(told["needed_tokens"]).toBeUndefined();
  expect(JSON.stringify(told).length).toBeLessThan(3 * MI);
  expect(told["results"]).toMatchObject([
    { content_length: same.length + 7 },
    { content_length: same.length + 7 },
  ]);
}, 60_000);

test("a tool shows a very long memory and its source part by part", async () => {
  const { connect } = await openTools();
  const ada = await connect("ada");
  const content = `${"x".repeat(MI)}the end`;
  const stored = await ada.answer("memory_store", { content });
  for (const [tool, args] of [
    ["memory_get_node", { node_id: idIn(stored, "node_id") }],
    ["memory_get_event", { event_id: idIn(stored, "event_id") }],
  ] as const) {
    const first = await ada.answer(tool, args);
    const told = { content_length: content.length, next_offset: MI };
    expect(first).toMatchObject({ ...told, content: content.slice(0, MI), content_offset: 0 });
    const rest = await ada.answer(tool, { ...args, offset: MI });
    expect(rest).toMatchObject({ content: "the end", content_offset: MI });
    expect(rest).not.toHaveProperty("next_offset");
    expect((await ada.call(tool, args)).text).toContain(`next_offset ${MI}`);
  }
});
