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
  test.each([
    {
      name: "another version",
      change: { schema_version: 2 },
      field: "schema_version",
      why: "must be 1",
    },
    {
      name: "a version as text",
      change: { schema_version: "1" },
      field: "schema_version",
      why: "must be 1",
    },
    {
      name: "another authority",
      change: { lookup_authority: "model" },
      field: "lookup_authority",
      why: "must be caller",
    },
    {
      name: "an unknown key",
      change: { note: "x" },
      field: "note",
      why: "is not a field of a value binding",
    },
    { name: "no reference", change: { reference: undefined }, field: "reference", why: BLANK },
    { name: "an empty reference", change: { reference: "" }, field: "reference", why: BLANK },
    {
      name: "a reference of 129 characters",
      change: { reference: long(129) },
      field: "reference",
      why: "is longer than 128 characters",
    },
    {
      name: "a reference that begins with a sign",
      change: { reference: "-a" },
      field: "reference",
      why: PATTERN,
    },
    {
      name: "a reference with a blank",
      change: { reference: "a b" },
      field: "reference",
      why: PATTERN,
    },
    {
      name: "a reference with a line break at the end",
      change: { reference: "a\n" },
      field: "reference",
      why: PATTERN,
    },
    {
      name: "a reference with an umlaut",
      change: { reference: "ä" },
      field: "reference",
      why: PATTERN,
    },
    {
      name: "a kind of 65 characters",
      change: { kind: long(65) },
      field: "kind",
      why: "is longer than 64 characters",
    },
    { name: "a kind that is a number", change: { kind: 7 }, field: "kind", why: BLANK },
    { name: "a kind with a slash", change: { kind: "a/b" }, field: "kind", why: PATTERN },
    {
      name: "a blank presentation",
      change: { presentation: "  " },
      field: "presentation",
      why: BLANK,
    },
    {
      name: "a presentation of 2049 characters",
      change: { presentation: long(2049) },
      field: "presentation",
      why: "is longer than 2048 characters",
    },
    {
      name: "a presentation that only the source holds",
      change: { presentation: "ada@example.org" },
      field: "presentation",
      why: "must occur verbatim in the source and the indexed text",
    },
    {
      name: "a presentation in another case",
      change: { presentation: "t-1" },
      field: "presentation",
      why: "must occur verbatim in the source and the indexed text",
    },
    { name: "a blank lookup", change: { lookup: "\n" }, field: "lookup", why: BLANK },
    {
      name: "a lookup of 2049 characters",
      change: { lookup: long(2049) },
      field: "lookup",
      why: "is longer than 2048 characters",
    },
    {
      name: "a lookup equal to the presentation",
      change: { lookup: "T-1" },
      field: "lookup",
      why: "must differ from the presentation",
    },
  ])("refuses $name", ({ change, field, why }) => {
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

  test.each([
    { name: "an object", value: BINDING, field: "value_bindings", why: "must be a list" },
    { name: "text", value: "x", field: "value_bindings", why: "must be a list" },
    { name: "a list of text", value: ["x"], field: "value_bindings[0]", why: "must be an object" },
    { name: "a list of lists", value: [[]], field: "value_bindings[0]", why: "must be an object" },
    {
      name: "a list with null",
      value: [null],
      field: "value_bindings[0]",
      why: "must be an object",
    },
    {
      name: "a reference used twice",
      value: [BINDING, { ...BINDING, presentation: "Ada" }],
      field: "value_bindings",
      why: 'the reference "ticket.1" occurs twice',
    },
    {
      name: "a presentation used twice",
      value: [BINDING, { ...BINDING, reference: "other" }],
      field: "value_bindings",
      why: 'the presentation "T-1" occurs twice',
    },
  ])("refuses $name", ({ value, field, why }) => {
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
