import { expect, test } from "bun:test";
import { optionalOwner, requireOwner } from "../../../src/surface/contract/caller.ts";

const operator = { boundUserId: undefined };
const ada = { boundUserId: "ada" };

test("an operator names the owner", () => {
  expect(requireOwner(operator, "bob")).toBe("bob");
  expect(optionalOwner(operator, undefined)).toBeUndefined();
  expect(optionalOwner(operator, "")).toBeUndefined();
  for (const given of [undefined, null, ""]) {
    expect(() => requireOwner(operator, given)).toThrow("user_id: is required");
  }
});

test("a bound caller may leave the owner out and name nobody else", () => {
  expect(requireOwner(ada, undefined)).toBe("ada");
  expect(requireOwner(ada, null)).toBe("ada");
  expect(optionalOwner(ada, "ada")).toBe("ada");
  for (const given of ["bob", ""]) {
    expect(() => optionalOwner(ada, given)).toThrow("is not the owner of this connection");
  }
});
