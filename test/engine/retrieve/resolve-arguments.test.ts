import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { VisibleBinding } from "../../../src/engine/retrieve/api.ts";
import {
  renderValueBindings,
  resolveArguments,
} from "../../../src/engine/retrieve/pack/resolve-arguments.ts";
import { thrown } from "../../domain/thrown.ts";
import { idOf } from "./pack-samples.ts";

function bound(n: number, given: Partial<VisibleBinding> = {}): VisibleBinding {
  return {
    contextRef: `m${n}`,
    nodeId: idOf(n),
    reference: `r${n}`,
    kind: "path",
    presentation: `short ${n}`,
    lookup: `/complete/${n}`,
    lookupAuthority: "caller",
    ...given,
  };
}

describe("resolving arguments", () => {
  test("replaces texts that equal a short form, at any depth, and says where", () => {
    const args = {
      "a/b~c": ["short 2", { deep: "short 1" }],
      key: "before short 1",
      "short 1": 7,
      done: "/complete/2",
      none: null,
    };
    const resolved = resolveArguments([bound(1), bound(2)], args);

    expect(resolved.arguments).toEqual({
      "a/b~c": ["/complete/2", { deep: "/complete/1" }],
      key: "before short 1",
      "short 1": 7,
      done: "/complete/2",
      none: null,
    });
    expect(resolved.replacements).toEqual([
      {
        jsonPointer: "/a~1b~0c/0",
        presentation: "short 2",
        lookup: "/complete/2",
        kind: "path",
        sourceNodeIds: [idOf(2)],
        sourceReferences: ["r2"],
      },
      {
        jsonPointer: "/a~1b~0c/1/deep",
        presentation: "short 1",
        lookup: "/complete/1",
        kind: "path",
        sourceNodeIds: [idOf(1)],
        sourceReferences: ["r1"],
      },
    ]);
    expect(resolved.bindingUses.map((use) => [use.jsonPointer, use.operation])).toEqual([
      ["/a~1b~0c/0", "replaced"],
      ["/a~1b~0c/1/deep", "replaced"],
      ["/done", "already_lookup"],
    ]);
    expect(args["a/b~c"][0]).toBe("short 2");
  });

  test("names every memory that binds the same text alike, once each and in order", () => {
    const same = { presentation: "x", lookup: "y" };
    const bindings = [
      bound(3, { ...same, reference: "b" }),
      bound(1, { ...same, reference: "b" }),
      bound(1, { ...same, reference: "a" }),
    ];
    const [place] = resolveArguments(bindings, { at: "x" }).replacements;

    expect([place?.sourceNodeIds, place?.sourceReferences]).toEqual([
      [idOf(1), idOf(3)],
      ["a", "b"],
    ]);
  });

  test("counts a complete form once for each short form that stands for it", () => {
    const bindings = [bound(1, { lookup: "y" }), bound(2, { lookup: "y" })];
    const { bindingUses, replacements } = resolveArguments(bindings, { at: "y" });

    expect(bindingUses.map((use) => use.presentation)).toEqual(["short 1", "short 2"]);
    expect(replacements).toEqual([]);
  });

  test.each([
    {
      name: "two complete forms of one short form",
      bindings: [bound(1, { presentation: "x" }), bound(2, { presentation: "x" })],
    },
    {
      name: "two kinds of one short form",
      bindings: [
        bound(1, { presentation: "x", lookup: "y" }),
        bound(2, { presentation: "x", lookup: "y", kind: "name" }),
      ],
    },
    {
      name: "a text that is a short and a complete form",
      bindings: [bound(1, { lookup: "short 2" }), bound(2)],
    },
  ])("refuses $name, without a word of them", ({ bindings }) => {
    const error = thrown(() => resolveArguments(bindings, {}));

    expect([error.code, error.data["field"]]).toEqual(["invalid_argument", "value_bindings"]);
    expect(error.message).not.toMatch(/short \d|complete\/|"x"/);
  });

  test.each([
    { name: "a list", args: [], field: "arguments" },
    { name: "a number without end", args: { a: [1, Number.NaN] }, field: "arguments.a[1]" },
    { name: "a function", args: { f() {} }, field: "arguments.f" },
  ])("refuses $name", ({ args, field }) => {
    const refused = thrown(() => resolveArguments([], args as Record<string, unknown>));
    expect([refused.code, refused.data["field"]]).toEqual(["invalid_argument", field]);
  });

  test("leaves complete arguments as they are: a second pass replaces nothing", () => {
    const bindings = [bound(1), bound(2), bound(3, { lookup: "/complete/1" })];
    const text = fc.constantFrom("short 1", "short 3", "/complete/2", "other", "");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(text, tie("tree"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree, { maxKeys: 4 }), (args) => {
        const first = resolveArguments(bindings, args);
        const second = resolveArguments(bindings, first.arguments);
        expect(second.arguments).toEqual(first.arguments);
        expect(second.replacements).toEqual([]);
        expect(new Set(first.bindingUses.map((use) => use.jsonPointer))).toEqual(
          new Set(second.bindingUses.map((use) => use.jsonPointer)),
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe("value bindings as text", () => {
  test("are a line of fields and a line of JSON with sorted keys", () => {
    const lines = renderValueBindings([bound(1, { presentation: "a\nb\u2028c" })]).split(
      /[\n\u2028]/,
    );

    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe(
      `[{"context_ref":"m1","kind":"path","lookup":"/complete/1","lookup_authority":"caller","node_id":"${idOf(1)}","presentation":"a\\nb\\u2028c","reference":"r1"}]`,
    );
    for (const field of Object.keys(JSON.parse(lines[1] ?? "")[0])) {
      expect(lines[0]).toContain(field);
    }
  });

  test("are nothing without any", () => {
    expect(renderValueBindings([])).toBe("");
  });
});
