import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ACTIVE_STATES,
  CONDITION_STATES,
  DECAY_PROFILES,
  EDGE_TYPES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  parseRole,
  QUERY_INTENTS,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  ROLES,
  SCOPES,
  SOURCE_TYPES,
} from "../../src/domain/enums.ts";
import { parseInstantInput, requireInterval } from "../../src/domain/lifecycle.ts";
import { parseMetadata } from "../../src/domain/metadata.ts";
import { asInstant } from "../../src/lib/instant.ts";
import { thrown } from "./thrown.ts";

const SETS = [
  { name: "node types", members: NODE_TYPES, size: 9 },
  { name: "edge types", members: EDGE_TYPES, size: 9 },
  { name: "scopes", members: SCOPES, size: 6 },
  { name: "lifecycle states", members: LIFECYCLE_STATES, size: 6 },
  { name: "source types", members: SOURCE_TYPES, size: 5 },
  { name: "epistemic types", members: EPISTEMIC_TYPES, size: 7 },
  { name: "query intents", members: QUERY_INTENTS, size: 5 },
  { name: "retrieval modes", members: RETRIEVAL_MODES, size: 2 },
  { name: "representation levels", members: REPRESENTATION_LEVELS, size: 5 },
  { name: "roles", members: ROLES, size: 6 },
  { name: "decay profiles", members: DECAY_PROFILES, size: 5 },
  { name: "condition states", members: CONDITION_STATES, size: 4 },
] as const;

test("the members are these words, in this order", () => {
  expect(Object.fromEntries(SETS.map(({ name, members }) => [name, members.join(" ")]))).toEqual({
    "node types": "entity event fact decision preference task instruction summary note",
    "edge types":
      "relates_to supersedes derived_from mentions part_of caused_by supports contradicts has_fact",
    scopes: "personal project organisation agent system sandbox",
    "lifecycle states": "tentative stable contested superseded deprecated archived",
    "source types": "user_stated user_demonstrated system_inferred external_document tool_output",
    "epistemic types": "observed asserted inferred hypothetical conditional deprecated unverified",
    "query intents": "semantic factual entity_lookup temporal relational",
    "retrieval modes": "default explicit",
    "representation levels": "full prose structured key_value reference",
    roles: "user human participant assistant tool system",
    "decay profiles": "permanent slow medium fast rapid",
    "condition states": "unknown true false expired",
  });
});

test("the active states are the first three of the lifecycle", () => {
  expect([...ACTIVE_STATES] as string[]).toEqual(["tentative", "stable", "contested"]);
});

describe("parseMember", () => {
  const hostile: unknown = JSON.parse('{"toString":1,"valueOf":1}');
  test.each([
    { name: "text", value: "galaxy", shown: '"galaxy"' },
    { name: "a number", value: 7, shown: "7" },
    { name: "null", value: null, shown: "null" },
    { name: "a list", value: ["personal"], shown: "a list" },
    { name: "an object without conversion to text", value: hostile, shown: "an object" },
    { name: "a symbol", value: Symbol("x"), shown: "Symbol(x)" },
  ])("names field, value and members for $name", ({ value, shown }) => {
    expect(thrown(() => parseMember(SCOPES, value, "scope")).message).toBe(
      `scope: ${shown} is not one of personal, project, organisation, agent, system, sandbox`,
    );
  });

  test("shows at most 80 characters of a value", () => {
    const { message } = thrown(() => parseMember(SCOPES, "x".repeat(5000), "scope"));
    expect(message).toBe(
      `scope: "${"x".repeat(78)}… is not one of personal, project, organisation, agent, system, sandbox`,
    );
  });
});

describe("parseRole", () => {
  test.each([
    ["user", "user"],
    ["Human", "human"],
    ["ASSISTANT", "assistant"],
  ] as const)("reads %s as %s", (given, role) => {
    expect(parseRole(given)).toBe(role);
  });

  test.each([["robot"], [null], [3], [""]])("refuses %j", (given) => {
    expect(thrown(() => parseRole(given)).data).toEqual({ field: "role" });
  });
});

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

describe("parseInstantInput", () => {
  test.each([
    ["2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00.000000Z"],
    [new Date("2024-05-01T08:00:00.123Z"), "2024-05-01T08:00:00.123000Z"],
    [undefined, undefined],
    [null, undefined],
  ])("reads %p as %p", (value, instant) => {
    expect(parseInstantInput(value, "event_time")).toBe(instant as never);
  });

  test.each([
    {
      name: "a time without an offset",
      value: "2024-05-01T10:00:00",
      why: '"2024-05-01T10:00:00" has no time zone; write for example 2024-05-01T10:00:00Z',
    },
    {
      name: "a bare date",
      value: "2024-05-01",
      why: '"2024-05-01" has no time zone; write for example 2024-05-01T00:00:00Z',
    },
    {
      name: "a bare date among many blanks",
      value: `${" ".repeat(5000)}2024-05-01\n`,
      why: '"2024-05-01" has no time zone; write for example 2024-05-01T00:00:00Z',
    },
    { name: "other text", value: "soon", why: '"soon" is not an ISO 8601 date and time' },
    {
      name: "a day that does not exist",
      value: "2024-02-30",
      why: '"2024-02-30" is not an ISO 8601 date and time',
    },
    { name: "a number", value: 1_714_550_400, why: "must be ISO 8601 text" },
    { name: "an invalid Date", value: new Date(Number.NaN), why: "is an invalid date" },
    {
      name: "a Date after the year 9999",
      value: new Date(8.64e15),
      why: "the year 275760 is not within 1 to 9999",
    },
    {
      name: "a Date before the year 1",
      value: new Date(-62_135_596_800_001),
      why: "the year 0 is not within 1 to 9999",
    },
  ])("refuses $name", ({ value, why }) => {
    expect(thrown(() => parseInstantInput(value, "event_time"))).toEqual({
      code: "invalid_argument",
      data: { field: "event_time" },
      message: `event_time: ${why}`,
    });
  });

  test("shows at most 80 characters of a malformed text", () => {
    const { message } = thrown(() => parseInstantInput("x".repeat(5000), "event_time"));
    expect(message).toBe(`event_time: "${"x".repeat(80)}" is not an ISO 8601 date and time`);
  });

  test("suggests a text that it reads itself", () => {
    for (const value of ["2024-05-01", " 2024-05-01 10:00 "]) {
      const { message } = thrown(() => parseInstantInput(value, "event_time"));
      const example = message.slice(message.indexOf("for example ") + "for example ".length);
      expect(parseInstantInput(example, "event_time")).toMatch(/^2024-05-01T/);
    }
  });
});

describe("requireInterval", () => {
  const early = asInstant("2024-01-01T00:00:00.000000Z");
  const late = asInstant("2024-01-01T00:00:00.000001Z");

  test.each([
    [undefined, undefined],
    [early, undefined],
    [early, late],
  ])("accepts from %s to %s", (from, to) => {
    expect(() => requireInterval(from, to)).not.toThrow();
  });

  test.each([
    { from: undefined, to: late, why: "needs an explicit valid_from" },
    { from: early, to: early, why: `${early} must be later than valid_from ${early}` },
    { from: late, to: early, why: `${early} must be later than valid_from ${late}` },
  ])("refuses from $from to $to", ({ from, to, why }) => {
    expect(thrown(() => requireInterval(from, to))).toEqual({
      code: "invalid_argument",
      data: { field: "valid_to" },
      message: `valid_to: ${why}`,
    });
  });

  test("compares moments, not their spelling", () => {
    const from = parseInstantInput("2024-01-01T12:00:00+05:00", "valid_from");
    const to = parseInstantInput("2024-01-01T08:00:00Z", "valid_to");
    expect(() => requireInterval(from, to)).not.toThrow();
    expect(thrown(() => requireInterval(to, from)).data).toEqual({ field: "valid_to" });
  });
});
