import { expect, test } from "bun:test";
import { actorOf, optionalOwner, requireOwner } from "../../../src/surface/contract/core/caller.ts";

const operator = { boundUserId: undefined };
const ada = { boundUserId: "ada" };

test("an operator names the owner", () => {
  expect(requireOwner(operator, "bob")).toBe("bob");
  expect(optionalOwner(operator, undefined)).toBeUndefined();
  expect(optionalOwner(operator, null)).toBeUndefined();
  for (const given of [undefined, null, ""]) {
    expect(() => requireOwner(operator, given)).toThrow("user_id: is required");
  }
});

test("an empty owner is a mistake of an operator, not a wish for all owners", () => {
  expect(() => optionalOwner(operator, "")).toThrow(
    "user_id: is empty; leave it out for all owners",
  );
});

test("a bound caller may leave the owner out and name nobody else", () => {
  expect(requireOwner(ada, undefined)).toBe("ada");
  expect(requireOwner(ada, null)).toBe("ada");
  expect(optionalOwner(ada, "ada")).toBe("ada");
  for (const given of ["bob", ""]) {
    expect(() => optionalOwner(ada, given)).toThrow("is not the owner of this connection");
  }
});

test("the actor of a change is the bound owner, else whom the operator names, else the operator", () => {
  expect(actorOf(ada, "api-operator", undefined)).toBe("ada");
  expect(actorOf(operator, "api-operator", null)).toBe("api-operator");
  expect(actorOf(operator, "api-operator", " bob ")).toBe("bob");
});

test.each([
  { name: "beside a bound owner", caller: ada, given: "ada", why: "is this connection's owner" },
  { name: "of blanks", caller: operator, given: " \n", why: "must not be blank" },
  {
    name: "with half a character",
    caller: operator,
    given: "b\ud800",
    why: "holds a lone surrogate",
  },
])("an actor $name is refused by the name of its field", ({ caller, given, why }) => {
  expect(() => actorOf(caller, "api-operator", given)).toThrow(`actor: ${why}`);
});
