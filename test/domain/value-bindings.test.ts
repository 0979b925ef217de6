import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseValueBindings, storedValueBindings } from "../../src/domain/metadata.ts";
import { thrown } from "./thrown.ts";

const SOURCE = "Ticket T-1 belongs to Ada (ada@example.org).";
const TEXTS = { source: SOURCE, indexed: "T-1 belongs to Ada" };
const BINDING = {
  reference: "ticket.1",
  kind: "ticket",
  presentation: "T-1",
  lookup: "tickets/2024/0001",
};

describe("parseValueBindings", () => {
  test("fills in version and authority and keeps the rest", () => {
    expect(parseValueBindings([BINDING], TEXTS)).toEqual([
      { schema_version: 1, ...BINDING, lookup_authority: "caller" },
    ]);
  });

  test.each([[undefined], [null], [[]]])("reads %j as none", (value) => {
    expect(parseValueBindings(value, TEXTS)).toEqual([]);
  });

  const long = (length: number): string => "x".repeat(length);
  test.each([
    { name: "explicit constants", change: { schema_version: 1, lookup_authority: "caller" } },
    { name: "a reference of one character", change: { reference: "7" } },
    { name: "a reference of 128 characters", change: { reference: long(128) } },
    { name: "every sign in a reference", change: { reference: "A0._:-" } },
    { name: "a kind of 64 characters", change: { kind: long(64) } },
    { name: "a lookup of 2048 characters", change: { lookup: long(2048) } },
    { name: "a lookup of 2048 emoji", change: { lookup: "😀".repeat(2048) } },
    { name: "a lookup that occurs nowhere", change: { lookup: "elsewhere" } },
  ])("accepts $name", ({ change }) => {
    expect(parseValueBindings([{ ...BINDING, ...change }], TEXTS)).toHaveLength(1);
  });

  const PATTERN = "must match [A-Za-z0-9][A-Za-z0-9._:-]*";
  const BLANK = "must be non-blank text";
  test.each(
    (
      [
        ["another version", { schema_version: 2 }, "schema_version", "must be 1"],
        ["a version as text", { schema_version: "1" }, "schema_version", "must be 1"],
        ["another authority", { lookup_authority: "model" }, "lookup_authority", "must be caller"],
        ["an unknown key", { note: "x" }, "note", "is not a field of a value binding"],
        ["no reference", { reference: undefined }, "reference", BLANK],
        ["an empty reference", { reference: "" }, "reference", BLANK],
        [
          "a reference of 129 characters",
          { reference: long(129) },
          "reference",
          "is longer than 128 characters",
        ],
        ["a reference that begins with a sign", { reference: "-a" }, "reference", PATTERN],
        ["a reference with a blank", { reference: "a b" }, "reference", PATTERN],
        ["a reference with a line break at the end", { reference: "a\n" }, "reference", PATTERN],
        ["a reference with an umlaut", { reference: "ä" }, "reference", PATTERN],
        ["a kind of 65 characters", { kind: long(65) }, "kind", "is longer than 64 characters"],
        ["a kind that is a number", { kind: 7 }, "kind", BLANK],
        ["a kind with a slash", { kind: "a/b" }, "kind", PATTERN],
        ["a blank presentation", { presentation: "  " }, "presentation", BLANK],
        [
          "a presentation of 2049 characters",
          { presentation: long(2049) },
          "presentation",
          "is longer than 2048 characters",
        ],
        [
          "a presentation that only the source holds",
          { presentation: "ada@example.org" },
          "presentation",
          "must occur verbatim in the source and the indexed text",
        ],
        [
          "a presentation in another case",
          { presentation: "t-1" },
          "presentation",
          "must occur verbatim in the source and the indexed text",
        ],
        ["a blank lookup", { lookup: "\n" }, "lookup", BLANK],
        [
          "a lookup of 2049 characters",
          { lookup: long(2049) },
          "lookup",
          "is longer than 2048 characters",
        ],
        [
          "a lookup equal to the presentation",
          { lookup: "T-1" },
          "lookup",
          "must differ from the presentation",
        ],
      ] as const
    ).map(([name, change, field, why]) => ({ name, change, field, why })),
  )("refuses $name", ({ change, field, why }) => {
    const good = { ...BINDING, reference: "other", presentation: "Ada", lookup: "people/ada" };
    const path = `value_bindings[1].${field}`;
    expect(thrown(() => parseValueBindings([good, { ...BINDING, ...change }], TEXTS))).toEqual({
      code: "invalid_argument",
      data: { field: path },
      message: `${path}: ${why}`,
    });
  });

  test("refuses a presentation that only the indexed text holds", () => {
    const texts = { source: "Ada", indexed: "Ada owns T-1" };
    expect(thrown(() => parseValueBindings([BINDING], texts)).data).toEqual({
      field: "value_bindings[0].presentation",
    });
  });

  test.each(
    (
      [
        ["an object", BINDING, "value_bindings", "must be a list"],
        ["text", "x", "value_bindings", "must be a list"],
        ["a list of text", ["x"], "value_bindings[0]", "must be an object"],
        ["a list of lists", [[]], "value_bindings[0]", "must be an object"],
        ["a list with null", [null], "value_bindings[0]", "must be an object"],
        [
          "a reference used twice",
          [BINDING, { ...BINDING, presentation: "Ada" }],
          "value_bindings",
          'the reference "ticket.1" occurs twice',
        ],
        [
          "a presentation used twice",
          [BINDING, { ...BINDING, reference: "other" }],
          "value_bindings",
          'the presentation "T-1" occurs twice',
        ],
      ] as const
    ).map(([name, value, field, why]) => ({ name, value, field, why })),
  )("refuses $name", ({ value, field, why }) => {
    expect(thrown(() => parseValueBindings(value, TEXTS))).toEqual({
      code: "invalid_argument",
      data: { field },
      message: `${field}: ${why}`,
    });
  });

  test("accepts 256 bindings and refuses 257", () => {
    const words = Array.from({ length: 257 }, (_, index) => `w${index}.`);
    const texts = { source: words.join(" "), indexed: words.join(" ") };
    const bindings = words.map((presentation, index) => ({
      reference: `r${index}`,
      kind: "word",
      presentation,
      lookup: `words/${index}`,
    }));
    expect(parseValueBindings(bindings.slice(0, 256), texts)).toHaveLength(256);
    expect(thrown(() => parseValueBindings(bindings, texts)).message).toBe(
      "value_bindings: has 257 entries; at most 256 are allowed",
    );
  });

  test("reads its own output as the same bindings", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,20}$/), (reference) => {
        const once = parseValueBindings([{ ...BINDING, reference }], TEXTS);
        expect(parseValueBindings(once, TEXTS)).toEqual(once);
      }),
    );
  });
});

describe("storedValueBindings", () => {
  test("returns the stored objects and ignores foreign shapes", () => {
    const stored = { schema_version: 1, ...BINDING, lookup_authority: "caller" };
    const metadata = { svc_value_bindings_v1: [stored, "x", null, [], { presentation: 3 }] };
    expect(storedValueBindings(metadata)).toEqual([stored]);
  });

  test.each([
    [undefined],
    [{}],
    [{ svc_value_bindings_v1: "x" }],
    [{ svc_value_bindings_v1: null }],
  ])("of %j is empty", (metadata) => {
    expect(storedValueBindings(metadata)).toEqual([]);
  });
});
