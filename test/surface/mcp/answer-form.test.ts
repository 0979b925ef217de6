import { describe, expect, test } from "bun:test";
import { tokenizer } from "../../engine/engines.ts";
import { type Caller, idIn, useTools } from "./served-tools.ts";

const { open } = useTools();

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

describe("the text of an answer", () => {
  test("is by default the JSON of its structured content, on one line", async () => {
    const served = await open();
    const ada = await served.connect("ada", "full", "json");
    const id = await world(ada);
    const calls = [
      ["memory_retrieve", { query: "What does Ada drink?", include_context: true }],
      ["memory_get_node", { node_id: id }],
      ["memory_scan_nodes", {}],
      ["memory_aggregate_assertions", {}],
      ["memory_get_node", { node_id: "01900000-0000-7000-8000-00000000ffff" }],
      ["memory_store", { content: "x", node_type: "memo" }],
      ["memory_get_node", {}],
      ["memory_retrieve", { query: "x", unknown: 1 }],
    ] as const;
    for (const [tool, args] of calls) {
      const { text, structured } = await ada.call(tool, args);
      expect(Object.keys(structured).length).toBeGreaterThan(0);
      expect(JSON.parse(text)).toEqual(structured);
      expect(text).not.toMatch(/[\n\r\u2028\u2029]/);
      expect(text).toBe(JSON.stringify(JSON.parse(text)));
    }
  });

  test("is readable for a client that wants it so, beside one that does not", async () => {
    const served = await open();
    const json = await served.connect("ada", "full", "json");
    const readable = await served.connect("ada", "full", "text");
    const id = await world(json);

    const [one, other] = [
      await json.call("memory_get_node", { node_id: id }),
      await readable.call("memory_get_node", { node_id: id }),
    ];

    expect(one.structured).toEqual(other.structured);
    expect(other.text).toStartWith(`fact ${id}, tentative`);
    await tokenizer.ready();
    expect(tokenizer.count(other.text)).toBeLessThan(tokenizer.count(one.text));
  });

  test.each(["json", "text"] as const)(
    "of arguments that break the schema is an object with an error, in the form %s",
    async (form) => {
      const ada = await (await open()).connect("ada", "full", form);

      const { isError, text, structured } = await ada.call("memory_get_node", { node: 1 });

      expect(isError).toBe(true);
      const error = String(structured["error"]);
      expect(structured).toEqual({ error });
      expect(error).toStartWith("Invalid arguments for tool memory_get_node: node_id: is required");
      expect(text).toBe(form === "json" ? JSON.stringify({ error }) : error);
    },
  );

  test("tells a reader of JSON what to do after a failure", async () => {
    const ada = await (await open()).connect("ada", "full", "json");
    const { structured } = await ada.call("memory_get_node", {
      node_id: "01900000-0000-7000-8000-00000000ffff",
    });
    expect(structured["error"]).toEndWith("Find the id with memory_retrieve.");
  });
});

describe.each(["json", "text"] as const)("invisible characters in the form %s", (form) => {
  test.each(HIDDEN)("%j reach no model, and stay in the structured content", async (hidden) => {
    const owner = `ada${hidden}`;
    const served = await open();
    const ada = await served.connect(owner, "full", form);
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
    if (form === "json") {
      for (const { text, structured } of results) expect(JSON.parse(text)).toEqual(structured);
    }
    const { contents } = await ada.client.readResource({ uri: `memory://nodes/${id}` });
    const [resource] = contents;
    const shown = resource !== undefined && "text" in resource ? resource.text : "";
    expect(shown).not.toMatch(INVISIBLE);
    expect(JSON.parse(shown).content).toBe(content);
    const prompt = await ada.client.getPrompt({ name: "recall", arguments: { question: content } });
    expect(JSON.stringify(prompt.messages)).not.toMatch(INVISIBLE);
  });
});
