/** What a client bound to one owner reaches of another's memories, with every tool. Real engine, real pack. */
import { describe, expect, test } from "bun:test";
import { TOOLS } from "../../../src/surface/mcp/tool-list.ts";
import { type Caller, idIn, useTools } from "./served-tools.ts";

const { open } = useTools();

/** A word of ada's that must reach nobody else. */
const PRIVATE = "Zx9private";
const CITATION = "01900000-0000-7000-8000-00000000c17a";
/** In the place of ada's ids: ids that nobody has. */
const MISSING = "01900000-0000-7000-8000-00000000dea";

type Json = Readonly<Record<string, unknown>>;
type Belongings = {
  readonly node: string;
  readonly other: string;
  readonly event: string;
  readonly retrieval: string;
  readonly citation: string;
};

async function belongingsOf(caller: Caller, text: string, citation: string): Promise<Belongings> {
  const store = (content: string) =>
    caller.answer("memory_store", {
      content,
      session_id: text,
      node_type: "fact",
      epistemic_type: "conditional",
      metadata: { condition: text, subject: text, predicate: "drinks", object: "5 teas" },
    });
  const first = await store(`${text} drinks 5 teas`);
  const second = await store(`${text} drinks 6 teas`);
  const found = await caller.answer("memory_retrieve", { query: text, retrieval_mode: "explicit" });
  // SAFETY: the client has checked the answer.
  const { request_id: retrieval } = found["metrics"] as { request_id: string };
  await caller.answer("memory_record_answer_citations", {
    citation_id: citation,
    request_id: retrieval,
    answer_id: text,
    cited_node_ids: [first["node_id"]],
  });
  return {
    node: idIn(first, "node_id"),
    other: idIn(second, "node_id"),
    event: idIn(first, "event_id"),
    retrieval,
    citation,
  };
}

const NOBODYS: Belongings = {
  node: `${MISSING}1`,
  other: `${MISSING}2`,
  event: `${MISSING}3`,
  retrieval: `${MISSING}4`,
  citation: `${MISSING}5`,
};

/** Calls of bob with ids of somebody; `own` are his. */
type Probe = {
  readonly tool: string;
  readonly args: (theirs: Belongings, own: Belongings) => Json;
};

const PROBES: readonly Probe[] = [
  { tool: "memory_get_node", args: ({ node }) => ({ node_id: node }) },
  { tool: "memory_archive_node", args: ({ node }) => ({ node_id: node }) },
  { tool: "memory_promote_node", args: ({ node }) => ({ node_id: node }) },
  { tool: "memory_forget", args: ({ node }) => ({ ids: [node] }) },
  { tool: "memory_forget", args: ({ event }) => ({ ids: [event] }) },
  { tool: "memory_evaluate_condition", args: ({ node }) => ({ node_id: node, state: "true" }) },
  {
    tool: "memory_evaluate_condition",
    args: ({ event }, own) => ({ node_id: own.node, state: "true", evidence_id: event }),
  },
  { tool: "memory_get_provenance", args: ({ node }) => ({ node_id: node }) },
  ...(
    [
      ["memory_supersede", "old_node_id", "new_node_id"],
      ["memory_mark_contradiction", "node_a_id", "node_b_id"],
      ["memory_resolve_contradiction", "winner_id", "loser_id"],
    ] as const
  ).flatMap(([tool, first, second]): Probe[] => [
    { tool, args: ({ node, other }) => ({ [first]: node, [second]: other }) },
    { tool, args: ({ node }, own) => ({ [first]: node, [second]: own.node }) },
    { tool, args: ({ node }, own) => ({ [first]: own.node, [second]: node }) },
    {
      tool,
      args: ({ event }, own) => ({ [first]: own.node, [second]: own.other, evidence_id: event }),
    },
  ]),
  { tool: "memory_get_event", args: ({ event }) => ({ event_id: event }) },
  { tool: "memory_get_extraction", args: ({ event }) => ({ event_id: event }) },
  { tool: "memory_extraction_status", args: ({ event }) => ({ event_id: event }) },
  { tool: "memory_retry_extraction", args: ({ event }) => ({ event_id: event }) },
  { tool: "memory_get_retrieval_receipt", args: ({ retrieval }) => ({ request_id: retrieval }) },
  {
    tool: "memory_record_answer_citations",
    args: ({ retrieval, node }) => ({
      request_id: retrieval,
      answer_id: "a",
      cited_node_ids: [node],
      citation_id: "01900000-0000-7000-8000-00000000beef",
    }),
  },
  {
    tool: "memory_record_answer_citations",
    args: ({ node }, { retrieval }) => ({
      request_id: retrieval,
      answer_id: "a",
      cited_node_ids: [node],
      citation_id: "01900000-0000-7000-8000-00000000beef",
    }),
  },
  { tool: "memory_get_answer_citations", args: ({ citation }) => ({ citation_id: citation }) },
];

/** An answer with every id of somebody replaced by what it stands for. */
function withoutIds(answer: unknown, belongings: Belongings): string {
  let text = JSON.stringify(answer);
  for (const [name, id] of Object.entries(belongings)) text = text.replaceAll(id, `<${name}>`);
  return text.replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "<moment>");
}

test("a foreign id is answered as a missing one, by every tool that takes an id", async () => {
  const { connect } = await open();
  const ada = await connect("ada");
  const theirs = await belongingsOf(ada, PRIVATE, CITATION);
  for (const { tool, args } of PROBES) {
    const bob = await connect(`bob-${Bun.randomUUIDv7()}`);
    const own = await belongingsOf(bob, "Bob", "01900000-0000-7000-8000-00000000b0b0");
    const foreign = await bob.call(tool, args(theirs, own));
    const missing = await bob.call(tool, args(NOBODYS, own));
    expect(foreign.structured).toHaveProperty("error");
    expect([tool, withoutIds(foreign, theirs)]).toEqual([tool, withoutIds(missing, NOBODYS)]);
    expect(JSON.stringify(foreign)).not.toContain(PRIVATE);
  }
  const node = await ada.answer("memory_get_node", { node_id: theirs.node });
  expect(node).toMatchObject({ lifecycle_state: "tentative", updated_at: node["created_at"] });
}, 120_000);

test("every tool that takes an id is among them", () => {
  const probed = new Set(PROBES.map(({ tool }) => tool));
  const isId = (name: string) => /_ids?$/.test(name) && !["user_id", "session_id"].includes(name);
  const takesId = TOOLS.filter(({ input }) => Object.keys(input.shape).some(isId));
  const others = takesId.map(({ tool }) => tool).filter((tool) => !probed.has(tool));
  // What these take is chosen by the caller, or is the place of a page.
  expect(others).toEqual([
    "memory_store",
    "memory_ingest_fast_many",
    "memory_list_answer_citations",
    "memory_scan_nodes",
  ]);
});

/** The least arguments of the tools that are about all memories of an owner. */
const OWNED: Readonly<Record<string, Json>> = {
  memory_store: { content: "x" },
  memory_retrieve: { query: PRIVATE, retrieval_mode: "explicit" },
  memory_ingest: { content: "x" },
  memory_ingest_fast_many: { items: [{ content: "x" }] },
  memory_process_materializations: {},
  memory_process_extractions: {},
  memory_get_retrieval_receipt: { request_id: CITATION },
  memory_record_answer_citations: { request_id: CITATION, answer_id: "a", cited_node_ids: [] },
  memory_list_answer_citations: {},
  memory_get_answer_citations: { citation_id: CITATION },
  memory_aggregate_assertions: { retrieval_mode: "explicit" },
  memory_get_assertion_state: {
    subject: PRIVATE,
    predicate: "drinks",
    scope: "personal",
    valid_at: "2030-01-01T00:00:00Z",
  },
  memory_aggregate_quantities: { retrieval_mode: "explicit" },
  memory_aggregate_quantities_from_text: { question: "How much did I spend?" },
  memory_scan_nodes: {},
  memory_forget: { ids: [CITATION] },
};

describe("the owner", () => {
  test("of a bound client is its own: another one is refused by name, and nothing of theirs is seen", async () => {
    const { connect } = await open();
    const ada = await connect("ada");
    await belongingsOf(ada, PRIVATE, CITATION);
    const bob = await connect("bob");
    const owned = TOOLS.filter(({ needsOwner }) => needsOwner).map(({ tool }) => tool);
    expect(Object.keys(OWNED)).toEqual(owned);
    for (const tool of owned) {
      const named = await bob.call(tool, { ...OWNED[tool], user_id: "ada" });
      expect([tool, named.isError, named.structured]).toEqual([
        tool,
        false,
        { error: 'user_id: "ada" is not the owner of this connection; leave user_id out' },
      ]);
      const own = await bob.call(tool, { ...OWNED[tool], user_id: "bob" });
      const { query: _echo, normalized_subject: _also, plan: _too, ...answer } = own.structured;
      expect([tool, JSON.stringify(answer).includes(PRIVATE)]).toEqual([tool, false]);
    }
  });

  test("has to be named by an unbound client, and is whoever is named", async () => {
    const { connect } = await open();
    const operator = await connect();
    for (const tool of Object.keys(OWNED)) {
      const { isError, structured, text } = await operator.call(tool, OWNED[tool]);
      expect([tool, isError, Object.keys(structured)]).toEqual([tool, false, ["error"]]);
      expect(text).toStartWith("user_id: is required");
    }
    await operator.answer("memory_store", { content: "Ada's", user_id: "ada" });
    await operator.answer("memory_store", { content: "Bob's", user_id: "bob" });
    const scanned = await operator.answer("memory_scan_nodes", { user_id: "bob" });
    expect(scanned).toMatchObject({ nodes: [{ content: "Bob's", user_id: "bob" }], count: 1 });
  });

  test("of an id is nobody's concern where an operator reads by id alone", async () => {
    const { connect } = await open();
    const ada = await connect("ada");
    const { node, event } = await belongingsOf(ada, PRIVATE, CITATION);
    const operator = await connect();
    const read = await operator.answer("memory_get_node", { node_id: node });
    expect(read).toMatchObject({ user_id: "ada" });
    const source = await operator.answer("memory_get_event", { event_id: event });
    expect(source).toMatchObject({ user_id: "ada" });
  });
});
