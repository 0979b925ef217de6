import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseMetadata } from "../../src/domain/metadata.ts";
import { thrown } from "./thrown.ts";

const RESERVED = ["svc_speaker_v1", "svc_value_bindings_v1", "svc_first_person_owner_v1"];

describe("parseMetadata", () => {
  test.each([[undefined], [null]])("reads %s as none", (value) => {
    expect(parseMetadata(value)).toBeUndefined();
  });

  test("copies the object when it is called", () => {
    const given = { tags: ["a"] };
    const metadata = parseMetadata(given);
    given.tags.push("b");
    expect(metadata).toEqual({ tags: ["a"] });
  });

  test("keeps any other JSON object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        fc.pre(RESERVED.every((key) => !(key in value)));
        expect(JSON.stringify(parseMetadata(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test.each([
    { name: "text", value: "x", field: "metadata", why: "must be an object" },
    { name: "a list", value: [], field: "metadata", why: "must be an object" },
    { name: "a Map", value: new Map(), field: "metadata", why: "a Map object is not a JSON value" },
    {
      name: "NaN",
      value: { a: { b: [Number.NaN] } },
      field: "metadata.a.b[0]",
      why: "NaN is not a JSON number",
    },
    {
      name: "an undefined member",
      value: { a: undefined },
      field: "metadata.a",
      why: "a undefined is not a JSON value",
    },
  ])("refuses $name", ({ value, field, why }) => {
    expect(thrown(() => parseMetadata(value))).toEqual({
      code: "invalid_argument",
      data: { field },
      message: `${field}: ${why}`,
    });
  });

  test.each(RESERVED)("reserves %s, whatever its value", (key) => {
    for (const value of [null, "Ada", []]) {
      expect(thrown(() => parseMetadata({ other: 1, [key]: value }))).toEqual({
        code: "invalid_speaker",
        data: { field: `metadata.${key}` },
        message: `metadata.${key}: is reserved; use the parameter that sets it`,
      });
    }
  });

  test("reserves the keys at the top level only", () => {
    const nested = { notes: { svc_speaker_v1: "Ada" } };
    expect(parseMetadata(nested)).toEqual(nested);
  });
});
