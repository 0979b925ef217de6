import { describe, expect, test } from "bun:test";
import { createAuthenticate, hasCredentials } from "../../../src/surface/http/auth.ts";

test("without keys everybody is an operator", () => {
  expect(createAuthenticate({})("Bearer whatever")).toEqual({ boundUserId: undefined });
  expect(hasCredentials({})).toBe(false);
  expect(hasCredentials({ userKeys: {} })).toBe(false);
});

describe("user keys", () => {
  const authenticate = createAuthenticate({ userKeys: { ada: "key-a", bob: "key-b" } });

  test.each(["Bearer key-a", "bearer   key-a  ", "BEARER key-a"])("%p is ada", (header) => {
    expect(authenticate(header)).toEqual({ boundUserId: "ada" });
  });

  test.each([undefined, "", "Bearer", "Bearer ", "Bearer key-c", "Basic key-a", "key-a"])(
    "%p is refused",
    (header) => {
      expect(() => authenticate(header)).toThrow("Invalid or missing API key");
    },
  );
});

test("the global key makes an operator", () => {
  const authenticate = createAuthenticate({ apiKey: "master" });
  expect(authenticate("Bearer master")).toEqual({ boundUserId: undefined });
  expect(() => authenticate("Bearer other")).toThrow("Invalid or missing API key");
});

test.each([
  { name: "both kinds", auth: { apiKey: "k", userKeys: { ada: "a" } }, text: "not both" },
  { name: "blank global key", auth: { apiKey: "  " }, text: "must not be blank" },
  { name: "blank owner", auth: { userKeys: { " ": "a" } }, text: "blank owner" },
  { name: "blank key", auth: { userKeys: { ada: "" } }, text: "blank key" },
  { name: "equal keys", auth: { userKeys: { ada: "a", bob: "a" } }, text: "two owners" },
])("unusable keys refuse to start: $name", ({ auth, text }) => {
  expect(() => createAuthenticate(auth)).toThrow(text);
});
