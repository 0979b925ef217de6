import { describe, expect, test } from "bun:test";
import { isRetired, momentAfter, nodeChanges } from "../../../src/domain/search/change.ts";
import { aNode, anEvent, at, freshId } from "../../contract/samples.ts";
import { thrown } from "../thrown.ts";

const node = aNode(anEvent({ sessionId: "s" }));
const found = new Map([[node.id, node]]);

describe("the moment of a change", () => {
  test("is the present where no node was changed later", () => {
    expect(momentAfter([], at(5))).toBe(at(5));
    expect(momentAfter([{ updatedAt: at(4) }], at(5))).toBe(at(5));
  });

  test("is a microsecond after the last change of each node", () => {
    const nodes = [{ updatedAt: at(7) }, { updatedAt: at(9) }, { updatedAt: at(8) }];

    expect(momentAfter(nodes, at(9))).toBe(at(9.000001));
    expect(momentAfter(nodes, at(5))).toBe(at(9.000001));
  });
});

describe("a change of nodes", () => {
  test("pairs each with what it was", () => {
    const after = { ...node, confidence: 0.1, metadata: { a: 1 }, pinned: true };

    expect(nodeChanges([after], found)).toEqual([{ before: node, after }]);
    expect(nodeChanges([], found)).toEqual([]);
  });

  test.each([
    { name: "a node twice", nodes: [node, node], message: "a node is written twice" },
    { name: "a node that was not read", nodes: [{ ...node, id: freshId() }], message: "not read" },
    { name: "another text", nodes: [{ ...node, content: "b" }], message: "another content" },
    { name: "another owner", nodes: [{ ...node, userId: "b" }], message: "another userId" },
    {
      name: "no session",
      nodes: [{ ...node, sessionId: undefined }],
      message: "another sessionId",
    },
    {
      name: "another scope",
      nodes: [{ ...node, scope: "agent" as const }],
      message: "another scope",
    },
    {
      name: "another type",
      nodes: [{ ...node, nodeType: "fact" as const }],
      message: "another nodeType",
    },
    {
      name: "another beginning",
      nodes: [{ ...node, createdAt: at(1) }],
      message: "another createdAt",
    },
    { name: "another day", nodes: [{ ...node, eventTime: at(1) }], message: "another eventTime" },
  ])("refuses $name", ({ nodes, message }) => {
    const error = thrown(() => nodeChanges(nodes, found));

    expect(error.code).toBe("internal");
    expect(error.message).toContain(message);
  });

  test("never brings an inactive node back", () => {
    const gone = { ...node, lifecycleState: "archived" as const };
    const error = thrown(() => nodeChanges([node], new Map([[node.id, gone]])));

    expect(error.message).toContain("from archived back to an active state");
    expect(nodeChanges([gone], new Map([[node.id, gone]]))).toHaveLength(1);
  });

  test("retires a node that stops being active", () => {
    const [contested, archived] = (["contested", "archived"] as const).map((lifecycleState) => ({
      ...node,
      lifecycleState,
    }));
    if (contested === undefined || archived === undefined) throw new Error();

    expect(isRetired({ before: node, after: archived })).toBe(true);
    expect(isRetired({ before: node, after: contested })).toBe(false);
    expect(isRetired({ before: archived, after: archived })).toBe(false);
  });
});
