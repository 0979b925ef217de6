import { describe, expect, test } from "bun:test";
import { testClock, tokenizer } from "../../engine/engines.ts";
import { type Caller, idIn, useTools } from "./served-tools.ts";

const { open } = useTools();

const FIXED_ID = "01a21edc-3a61-773a-9766-9783242c8151";
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const TAGS = [..."obey"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
const HIDDEN = ["\u202eeve\u202c", TAGS.join(""), "o\ufe01b\u{e0155}", "\u200b\ufeff\u00ad"];

async function world(ada: Caller) {
  const stored = await ada.answer("memory_store", {
    content: "Ada drinks tea.",
    node_type: "fact",
    metadata: { subject: "Ada", predicate: "drinks", object: "tea" },
  });
  return idIn(stored, "node_id");
}

describe("an answer", () => {
  test("is structured content without nulls, beside its lines", async () => {
    const ada = await (await open()).connect("ada");
    const id = await world(ada);
    const { text, structured } = await ada.call("memory_get_node", { node_id: id });
    expect(text).toStartWith(`fact ${id}, tentative`);
    expect(structured).toMatchObject({ id, metadata: { subject: "Ada" } });
    expect(Object.values(structured)).not.toContain(null);
    expect(structured).not.toHaveProperty("superseded_by");
    const metadata = { kept: null };
    const stored = await ada.answer("memory_store", { content: "Ada runs.", metadata });
    const node = await ada.answer("memory_get_node", { node_id: stored["node_id"] });
    expect(node["metadata"]).toEqual(metadata);
  });

  test("says of a hit when it was stored, and of its metrics what a caller can act on", async () => {
    const ada = await (await open()).connect("ada");
    await world(ada);
    const known = await ada.answer("memory_retrieve", { query: "What does Ada drink?" });
    expect(known["metrics"]).toEqual({ request_id: expect.any(String) });
    expect(known["results"]).toMatchObject([{ stored: "just now", source_type: "user_stated" }]);
  });

  test("costs at most 70 tokens for a hit, and 120 for a replacement in both forms together", async () => {
    await tokenizer.ready();
    // The digits of an id decide how many tokens it has.
    const cost = (shown: object | string) =>
      tokenizer.count(JSON.stringify(shown).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, FIXED_ID));
    const clock = testClock();
    const ada = await (await open({ clock })).connect("ada");
    const old = await ada.answer("memory_store", {
      content: "Ada's dentist is Dr. Meier in Linz.",
    });
    clock.set("2026-11-03T08:00:00.000Z");
    const [hit] = (await ada.answer("memory_retrieve", { query: "dentist" }))[
      "results"
    ] as object[];
    expect(hit).toMatchObject({ stored: "2026-03-18" });
    expect(cost(hit ?? {})).toBeLessThanOrEqual(70);
    const next = await ada.answer("memory_store", {
      content: "Ada's dentist is Dr. Huber in Graz.",
    });
    const { text, structured } = await ada.call("memory_supersede", {
      old_node_id: old["node_id"],
      new_node_id: next["node_id"],
    });
    expect(cost(text) + cost(structured)).toBeLessThanOrEqual(120);
  });
});

describe("invisible characters", () => {
  test.each(HIDDEN)("%j reach no model, and stay in the structured content", async (hidden) => {
    const owner = `ada${hidden}`;
    const served = await open();
    const ada = await served.connect(owner);
    const content = `tea ${hidden} coffee`;
    const metadata = {
      [`key${hidden}`]: hidden,
      subject: `A${hidden}`,
      predicate: "drinks",
      object: hidden,
    };
    const stored = await ada.answer("memory_store", { content, node_type: "fact", metadata });
    const id = idIn(stored, "node_id");
    const found = await ada.call("memory_retrieve", { query: "tea", include_context: true });
    const retrieval = String((found.structured["metrics"] as { request_id: string }).request_id);
    const results = [
      found,
      await ada.call("memory_get_node", { node_id: id }),
      await ada.call("memory_scan_nodes"),
      await ada.call("memory_get_provenance", { node_id: id }),
      await ada.call("memory_get_event", { event_id: idIn(stored, "event_id") }),
      await ada.call("memory_aggregate_assertions", { group_by: ["object"] }),
      await ada.call("memory_get_retrieval_receipt", { request_id: retrieval }),
      await ada.call("memory_record_answer_citations", {
        request_id: retrieval,
        answer_id: `answer${hidden}`,
        cited_node_ids: [id],
      }),
      await ada.call("memory_list_answer_citations", { request_id: retrieval }),
      await ada.call("memory_store", { content: "x", node_type: hidden }),
      await ada.call("memory_get_node", { [hidden]: 1 }),
      await ada.call("memory_get_node", { node_id: hidden }),
    ];

    for (const { text } of results) expect(text).not.toMatch(INVISIBLE);
    expect(results[1]?.structured["content"]).toBe(content);
    expect(results[1]?.structured["metadata"]).toEqual(metadata);
    expect(String(found.structured["context"])).not.toMatch(INVISIBLE);
    const { contents } = await ada.client.readResource({ uri: `memory://nodes/${id}` });
    const [resource] = contents;
    const shown = resource !== undefined && "text" in resource ? resource.text : "";
    expect(shown).not.toMatch(INVISIBLE);
    expect(JSON.parse(shown).content).toBe(content);
    const prompt = await ada.client.getPrompt({ name: "recall", arguments: { question: content } });
    expect(JSON.stringify(prompt.messages)).not.toMatch(INVISIBLE);
  });
});
