import { describe, expect, test } from "bun:test";
import {
  fromPlanPayload,
  planDerivation,
  planProblem,
  publish,
  toPlanPayload,
} from "../../../src/domain/extraction/plan/derivation.ts";
import { namesToFind } from "../../../src/domain/extraction/plan/entities.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { claim, entity, MemoryOf, type Said } from "./memory-of.ts";

const AT = asInstant("2024-06-01T00:00:00.000000Z");
const OWNER: Partial<Said> = { isOwner: true };

describe("a claim", () => {
  test("becomes a node with its sentences, its parts and its standing", () => {
    const said = {
      content: "Hello. I live in Lisbon. Bye.",
      claims: [claim("I | lives_in | Lisbon", { epistemicType: "observed" })],
      entities: [entity("Lisbon", "location")],
    };
    const { nodes, edges, vectorTexts, lexicalIds } = new MemoryOf().plan(said);
    const [city, word, fact] = nodes;
    expect(city).toMatchObject({
      content: "Lisbon",
      nodeType: "entity",
      confidence: 0.5,
      decayProfile: "slow",
      eventTime: undefined,
      metadata: { entity_type: "location" },
    });
    expect(word?.metadata).toMatchObject({ identity_status: "unresolved_reference" });
    expect(fact).toMatchObject({
      nodeType: "fact",
      content: "I live in Lisbon.",
      confidence: 0.9,
      decayProfile: "slow",
      sourceType: "user_stated",
      lifecycleState: "tentative",
      validFrom: "2024-05-10T09:00:00.000000Z",
      metadata: {
        subject: "I",
        predicate: "lives_in",
        object: "Lisbon",
        polarity: "positive",
        subject_link_status: "resolved",
        object_link_status: "resolved",
        evidence_quote: "Hello. I live in Lisbon. Bye.",
        grounding_method: "claim_sentences_v1",
        extraction_kind: "fact",
        replaces_object: null,
      },
    });
    expect(edges.map(({ edgeType, sourceId, targetId }) => [edgeType, sourceId, targetId])).toEqual(
      [
        ["has_fact", word!.id, fact!.id],
        ["mentions", fact!.id, city!.id],
      ],
    );
    expect(vectorTexts).toEqual(["Lisbon", "I", "I live in Lisbon."]);
    expect(lexicalIds).toEqual([fact!.id]);
  });

  test("has the time that it states, if that is one moment", () => {
    const memory = new MemoryOf();
    const timeOf = (temporalRef: string) =>
      memory
        .plan({ content: "I ran.", claims: [claim("I | ran | I", { temporalRef })] })
        .nodes.at(-1);
    expect(timeOf("yesterday")).toMatchObject({
      eventTime: "2024-05-09T09:00:00.000000Z",
      validFrom: "2024-05-09T09:00:00.000000Z",
      metadata: { resolved_date: "2024-05-09T09:00:00.000000Z" },
    });
    expect(timeOf("once")?.eventTime).toBe(asInstant("2024-05-10T09:00:00.000000Z"));
  });

  test.each([
    ["user", "user_stated", 0.8],
    ["participant", "user_stated", 0.8],
    ["assistant", "system_inferred", 0.6],
    ["tool", "tool_output", 0.7],
  ] as const)("of a turn by %s has the source %s", (role, sourceType, confidence) => {
    const { nodes } = new MemoryOf().plan({
      content: "It works.",
      role,
      claims: [claim("It | is | works")],
    });
    expect(nodes.at(-1)).toMatchObject({ sourceType, confidence });
  });

  test("with a condition begins as unknown, and keeps its amount", () => {
    const quantity = { value: "20", unit: "$", sourceText: "$20" };
    const { nodes } = new MemoryOf().plan({
      content: "If it works, I pay $20.",
      claims: [
        claim("I | pays | $20", {
          epistemicType: "conditional",
          condition: "If it works",
          quantity,
        }),
      ],
    });
    expect(nodes.at(-1)?.metadata).toMatchObject({
      condition: "If it works",
      condition_state: "unknown",
      quantity: { value: "20", unit: "$", source_text: "$20", grounding: "object_decimal_v1" },
    });
  });

  test("without a listed subject is kept without a subject edge", () => {
    const { nodes, edges } = new MemoryOf().plan({
      content: "Rome is old.",
      claims: [claim("Rome | is | old")],
    });
    expect(nodes).toHaveLength(1);
    expect(edges).toEqual([]);
    expect(nodes[0]?.metadata?.["subject_link_status"]).toBe("missing");
  });

  test("as a relation that repeats a fact is left out", () => {
    const one = claim("Ben | knows | Eva");
    const { nodes } = new MemoryOf().plan({
      content: "Ben knows Eva.",
      claims: [one, { ...one, kind: "relationship" }],
      entities: [entity("Ben"), entity("Eva")],
    });
    expect(nodes).toHaveLength(3);
  });
});

describe("an entity", () => {
  const BEN = {
    content: "Ben sails.",
    claims: [claim("Ben | does | sails")],
    entities: [entity("Ben")],
  };

  test("is found again by name and type, as it is", () => {
    const memory = new MemoryOf();
    memory.tell(BEN);
    const again = memory.plan({
      ...BEN,
      content: "ben rows.",
      claims: [claim("ben | does | rows")],
      entities: [entity(" ben ", "person", "a rower")],
    });
    expect(again.nodes.map(({ nodeType }) => nodeType)).toEqual(["fact"]);
    expect(again.snapshots.map(({ content }) => content)).toEqual(["Ben"]);
    const other = memory.plan({ ...BEN, entities: [entity("Ben", "product")] });
    expect(other.snapshots).toEqual([]);
  });

  test("is embedded with its description", () => {
    const { vectorTexts } = new MemoryOf().plan({
      content: "Ben sails.",
      entities: [entity("Ben", "person", "a sailor")],
    });
    expect(vectorTexts).toEqual(["Ben: a sailor"]);
  });

  test("is looked for by each name once", () => {
    const result = {
      entities: [entity("Ben"), entity(" BEN "), entity("Eva")],
      claims: [],
      summary: undefined,
    };
    expect(namesToFind(result, "Eva")).toEqual(["ben", "eva"]);
    expect(namesToFind(result, undefined)).toEqual(["ben", "eva"]);
  });

  test("for a personal word belongs to its event alone", () => {
    const memory = new MemoryOf();
    const said = { content: "She sails.", claims: [claim("She | does | sails")] };
    const first = memory.tell(said);
    const second = memory.tell(said);
    expect(first.nodes[0]?.id).not.toBe(second.nodes[0]?.id);
    expect(memory.believed()).toEqual(["sails", "sails"]);
  });
});

describe("the first person", () => {
  const said = (part: Partial<Said>): Said => ({
    content: "I sail.",
    claims: [claim("I | does | sail")],
    ...part,
  });

  test("of a named speaker is that speaker", () => {
    const memory = new MemoryOf();
    const plan = memory.tell(said({ speaker: "Dana" }));
    expect(plan.nodes.map(({ content }) => content)).toEqual(["Dana", "I sail."]);
    expect(plan.nodes[1]?.metadata?.["speaker_reference"]).toEqual({
      speaker: "Dana",
      fields: ["subject"],
    });
    expect(
      memory.plan(said({ speaker: "Dana" })).snapshots.map(({ content }) => content),
    ).toContain("Dana");
    expect(memory.plan(said({ speaker: "Omar" })).nodes[0]?.content).toBe("Omar");
    const off = memory.plan(said({ speaker: "Dana", settings: { speakerReferences: false } }));
    expect(off.nodes[0]?.metadata?.["identity_status"]).toBe("unresolved_reference");
  });

  test("of the owner is one entity in a scope, whatever word stands for it", () => {
    const memory = new MemoryOf();
    const first = memory.tell(said(OWNER));
    expect(first.nodes[0]).toMatchObject({
      content: "I",
      decayProfile: "medium",
      sessionId: undefined,
      metadata: { entity_type: "person", identity_status: "owner_reference", owner_id: "anna" },
    });
    expect(first.nodes[1]?.metadata?.["owner_reference"]).toEqual({
      user_id: "anna",
      fields: ["subject"],
    });
    const second = memory.plan(
      said({ ...OWNER, content: "My boat sails.", claims: [claim("my | has | boat")] }),
    );
    expect(second.snapshots.map(({ id }) => id)).toEqual([first.nodes[0]!.id]);
    expect(
      memory.plan(said({ ...OWNER, role: "assistant" })).nodes[0]?.metadata?.["identity_status"],
    ).toBe("unresolved_reference");
  });

  test("of the owner fails the work when its entity was altered", () => {
    const memory = new MemoryOf();
    const owner = memory.tell(said(OWNER)).nodes[0]!;
    const altered = [
      { ...owner, lifecycleState: "archived" as const },
      { ...owner, content: "Me" },
      { ...owner, metadata: { ...owner.metadata, extra: 1 } },
      { ...owner, metadata: { ...owner.metadata, owner_id: "ben" } },
    ];
    for (const node of altered) {
      memory.nodes.set(owner.id, node);
      const result = { entities: [], claims: [claim("I | does | sail")], summary: undefined };
      expect(planDerivation(result, memory.context(said(OWNER)))).toBe("owner_reference_changed");
    }
  });
});

describe("the same claim again", () => {
  const said = (part: Partial<Said> = {}): Said => ({
    content: "I love tea.",
    claims: [claim("I | loves | tea")],
    ...OWNER,
    ...part,
  });

  test("stands for its earlier statements and has their evidence", () => {
    const memory = new MemoryOf();
    const first = memory.tell(said({ day: 1 })).nodes.at(-1)!;
    memory.nodes.set(first.id, { ...first, lifecycleState: "stable", salience: 0.9 });
    const second = memory.tell(
      said({ day: 2, content: "Tea, I love Tea.", claims: [claim("I | Loves | Tea")] }),
    );
    const node = memory.nodes.get(second.nodes.at(-1)!.id)!;
    expect(node).toMatchObject({
      content: "Tea, I love Tea.",
      lifecycleState: "stable",
      salience: 0.9,
    });
    expect(node.evidenceRefs).toEqual([...first.evidenceRefs, second.eventId]);
    expect(node.metadata?.["merged_claim_ids"]).toEqual([first.id]);
    expect(memory.nodes.get(first.id)).toMatchObject({
      lifecycleState: "superseded",
      supersededBy: node.id,
      validTo: node.validFrom,
    });
    expect(memory.edges.at(-1)).toMatchObject({
      edgeType: "supersedes",
      sourceId: node.id,
      targetId: first.id,
    });
    expect(memory.believed()).toEqual(["Tea"]);
  });

  test.each<[string, Partial<Said>]>([
    ["another polarity", { claims: [claim("I | loves | tea", { polarity: "negative" })] }],
    [
      "another kind of knowledge",
      { claims: [claim("I | loves | tea", { epistemicType: "observed" })] },
    ],
    [
      "a condition",
      { claims: [claim("I | loves | tea", { epistemicType: "conditional", condition: "x" })] },
    ],
    [
      "a time that names no moment",
      { claims: [claim("I | loves | tea", { temporalRef: "once" })] },
    ],
    ["another source", { isOwner: false, role: "tool" }],
    ["an earlier time", { day: 1 }],
    ["merging turned off", { settings: { claimMerge: false } }],
  ])("stays apart with %s", (_, part) => {
    const memory = new MemoryOf();
    memory.tell(said({ day: 5 }));
    memory.tell(said({ day: 6, ...part }));
    expect(memory.believed()).toHaveLength(2);
  });

  test("in one message is one memory", () => {
    const memory = new MemoryOf();
    memory.tell(said({ claims: [claim("I | loves | tea"), claim("I | loves | tea")] }));
    expect(memory.believed()).toEqual(["tea"]);
  });
});

describe("an update", () => {
  const told = (
    line: string,
    part: Parameters<typeof claim>[1] = {},
    more: Partial<Said> = {},
  ): Said => ({
    content: line,
    claims: [claim(line, part)],
    ...OWNER,
    ...more,
  });
  const update = { temporalIntent: "update" } as const;

  test.each<[string, Said, Said, readonly string[]]>([
    [
      "retires the value that it names",
      told("I | lives_in | Denver"),
      told("I | resides_in | Austin", { ...update, replacesObject: "Denver" }),
      ["Austin"],
    ],
    [
      "retires nothing without a value",
      told("I | lives_in | Denver"),
      told("I | lives_in | Austin", update),
      ["Austin", "Denver"],
    ],
    [
      "retires what it denies",
      told("I | uses | Slack"),
      told("I | uses | Slack", { ...update, polarity: "negative" }),
      ["Slack"],
    ],
    [
      "retires what was used before a switch",
      told("I | uses | Slack"),
      told("I | switched_to | Signal", { ...update, replacesObject: "Slack" }),
      ["Signal"],
    ],
    [
      "knows a value by its last words",
      told("I | owns | insulin pump"),
      told("I | owns | pump", { ...update, polarity: "negative" }),
      ["pump"],
    ],
    [
      "leaves another predicate alone",
      told("I | sells | Slack"),
      told("I | uses | Signal", { ...update, replacesObject: "Slack" }),
      ["Signal", "Slack"],
    ],
    [
      "leaves a later statement alone",
      told("I | lives_in | Denver", {}, { day: 20 }),
      told("I | lives_in | Austin", { ...update, replacesObject: "Denver" }, { day: 10 }),
      ["Austin", "Denver"],
    ],
    [
      "with a condition retires nothing",
      told("I | lives_in | Denver"),
      told("I | lives_in | Austin", {
        ...update,
        replacesObject: "Denver",
        epistemicType: "conditional",
        condition: "if",
      }),
      ["Austin", "Denver"],
    ],
    [
      "of another source retires nothing",
      told("I | lives_in | Denver"),
      told(
        "I | lives_in | Austin",
        { ...update, replacesObject: "Denver" },
        { role: "assistant", isOwner: false },
      ),
      ["Austin", "Denver"],
    ],
    [
      "by somebody else retires nothing",
      told("I | lives_in | Denver"),
      told(
        "I | lives_in | Austin",
        { ...update, replacesObject: "Denver" },
        { isOwner: false, speaker: "Omar" },
      ),
      ["Austin", "Denver"],
    ],
  ])("%s", (_, first, second, expected) => {
    const memory = new MemoryOf();
    memory.tell({ day: 10, ...first });
    memory.tell({ day: 11, ...second });
    expect(memory.believed()).toEqual([...expected]);
  });

  test("that could mean several values retires none", () => {
    const memory = new MemoryOf();
    memory.tell(told("I | owns | insulin pump"));
    memory.tell(told("I | owns | water pump"));
    memory.tell(told("I | owns | pump", { ...update, polarity: "negative" }));
    expect(memory.believed()).toEqual(["insulin pump", "pump", "water pump"]);
  });

  test("of plain messages never retires anything: nobody knows who speaks", () => {
    const memory = new MemoryOf();
    memory.tell({ ...told("I | lives_in | Denver"), isOwner: false });
    memory.tell({
      ...told("I | lives_in | Austin", { ...update, replacesObject: "Denver" }),
      isOwner: false,
    });
    expect(memory.believed()).toEqual(["Austin", "Denver"]);
  });

  test("corrects a memory that was shown, whatever its predicate, and only once", () => {
    const memory = new MemoryOf();
    const old = memory.tell(told("I | plans | trip to Rome")).nodes.at(-1)!;
    const correction = { ...update, replacesNodeId: old.id };
    const wrongs = [
      { ...correction, temporalIntent: "assertion" },
      { ...correction, epistemicType: "hypothetical" },
      { ...correction, replacesNodeId: uuidV5("url", "unknown") },
    ] as const;
    for (const part of wrongs)
      expect(memory.plan(told("I | cancelled | trip", part)).replacements).toEqual([]);
    const plan = memory.tell(told("I | cancelled | trip", correction));
    expect(plan.replacements).toEqual([{ oldId: old.id, newId: plan.nodes.at(-1)!.id }]);
    expect(plan.nodes.at(-1)?.metadata?.["replaces_node_id"]).toBe(old.id);
    expect(
      memory.plan(told("I | cancelled | trip", correction)).replacements.map(({ oldId }) => oldId),
    ).not.toContain(old.id);
  });
});

describe("a plan", () => {
  const said: Said = { content: "I love tea.", claims: [claim("I | loves | tea")], ...OWNER };

  test("is the same for the same input, and kept and read back unchanged", () => {
    const context = new MemoryOf().context(said);
    const result = { entities: [], claims: [claim("I | loves | tea")], summary: undefined };
    const plan = planDerivation(result, context);
    expect(planDerivation(result, context)).toEqual(plan);
    if (typeof plan === "string") throw new Error(plan);
    expect(fromPlanPayload(toPlanPayload(plan))).toEqual(plan);
    const other = planDerivation(result, { ...context, revision: 2 });
    expect(typeof other === "string" ? "" : other.id).not.toBe(plan.id);
  });

  test("that was altered is not read", () => {
    const payload = toPlanPayload(new MemoryOf().plan(said));
    expect(() =>
      fromPlanPayload({ ...payload, record: payload.record.replace("tea", "rum") }),
    ).toThrow("checksum");
  });

  test("is stale once a node that it relies on has changed or is gone", () => {
    const memory = new MemoryOf();
    const old = memory.tell(said).nodes.at(-1)!;
    const plan = memory.plan({ ...said, day: 11 });
    expect(publish(plan, memory.nodes, AT)).toMatchObject({ replaced: [{ id: old.id }] });
    memory.nodes.set(old.id, { ...old, salience: 0.51 });
    expect(publish(plan, memory.nodes, AT)).toEqual({ staleId: old.id });
    memory.nodes.delete(old.id);
    expect(publish(plan, memory.nodes, AT)).toEqual({ staleId: old.id });
  });

  test("that breaks a promise is not sound", () => {
    const memory = new MemoryOf();
    memory.tell(said);
    const plan = memory.plan({ ...said, day: 11 });
    const [node] = plan.nodes;
    const [replacement] = plan.replacements;
    expect(planProblem(plan)).toBeUndefined();
    expect(planProblem({ ...plan, nodes: [node!, { ...node!, userId: "ben" }] })).toContain(
      "owners",
    );
    expect(planProblem({ ...plan, nodes: [{ ...node!, evidenceRefs: [] }] })).toContain("cite");
    expect(planProblem({ ...plan, nodes: [node!, node!] })).toContain("identifier");
    expect(planProblem({ ...plan, replacements: [replacement!, replacement!] })).toContain("twice");
    expect(
      planProblem({ ...plan, replacements: [{ oldId: node!.id, newId: replacement!.oldId }] }),
    ).toContain("new node");
    expect(planProblem({ ...plan, snapshots: [] })).toContain("edge");
    expect(planProblem({ ...plan, vectorTexts: [] })).toContain("embed");
  });

  test("of nothing is empty", () => {
    const plan = new MemoryOf().plan({ content: "Hello." });
    expect([plan.nodes, plan.edges, plan.replacements]).toEqual([[], [], []]);
  });
});
