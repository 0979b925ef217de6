import { describe, expect, test } from "bun:test";
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
