import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createAuthenticate,
  digestOf,
  hasCredentials,
} from "../../../src/surface/listener/auth.ts";

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

test("the owner of a key has the one form of its name", () => {
  const authenticate = createAuthenticate({ userKeys: { " jose\u0301 ": "key" } });
  expect(authenticate("Bearer key")).toEqual({ boundUserId: "josé" });
});

test("each key finds its owner, and nothing but a key does, however many there are", () => {
  const key = fc.stringMatching(/^[!-~]{1,40}$/);
  const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(keys, key, (known, guess) => {
      const userKeys = Object.fromEntries(known.map((text, at) => [`owner ${at}`, text]));
      const authenticate = createAuthenticate({ userKeys });
      for (const [at, text] of known.entries()) {
        expect(authenticate(`Bearer ${text}`)).toEqual({ boundUserId: `owner ${at}` });
      }
      const near = [guess, `${known[0]}x`, `x${known[0]}`, known[0]?.slice(1), known.join("")];
      for (const text of near) {
        if (text !== undefined && known.includes(text)) continue;
        expect(() => authenticate(`Bearer ${text}`)).toThrow("Invalid or missing API key");
      }
    }),
    { numRuns: 50 },
  );
});

test("the global key makes an operator", () => {
  const authenticate = createAuthenticate({ apiKey: "master" });
  expect(authenticate("Bearer master")).toEqual({ boundUserId: undefined });
  expect(() => authenticate("Bearer other")).toThrow("Invalid or missing API key");
});

test("an operator's key stands beside those of users and named ones", () => {
  let sha256 = digestOf("laptop").toString("hex");
  const authenticate = createAuthenticate({
    apiKey: "master",
    userKeys: { ada: "key-a" },
    named: () => [
      { sha256, owner: "ada" },
      { sha256: digestOf("ops").toString("hex"), owner: null },
    ],
  });
  const owners = ["master", "key-a", "laptop", "ops"].map(
    (key) => authenticate(`Bearer ${key}`).boundUserId,
  );
  expect(owners).toEqual([undefined, "ada", "ada", undefined]);
  sha256 = digestOf("phone").toString("hex");
  expect(() => authenticate("Bearer laptop")).toThrow("Invalid or missing API key");
  expect(authenticate("Bearer phone")).toEqual({ boundUserId: "ada" });
});

test.each([
  {
    name: "one key of an operator and a user",
    auth: { apiKey: "k", userKeys: { ada: "k" } },
    text: "two",
  },
  { name: "blank global key", auth: { apiKey: "  " }, text: "must not be blank" },
  { name: "blank owner", auth: { userKeys: { " ": "a" } }, text: "blank owner" },
  { name: "blank key", auth: { userKeys: { ada: "" } }, text: "blank key" },
  { name: "keys equal but for blanks", auth: { userKeys: { ada: "a", bob: " a " } }, text: "two" },
  { name: "key beyond ASCII", auth: { userKeys: { ada: "schlüssel" } }, text: "those of ASCII" },
  { name: "global key beyond ASCII", auth: { apiKey: "a\nb" }, text: "those of ASCII" },
  {
    name: "names equal but for blanks",
    auth: { userKeys: { ada: "a", " ada ": "b" } },
    text: "one",
  },
  { name: "names equal in NFC", auth: { userKeys: { é: "a", "e\u0301": "b" } }, text: "one owner" },
  { name: "equal keys", auth: { userKeys: { ada: "a", bob: "a" } }, text: "two owners" },
])("unusable keys refuse to start: $name", ({ auth, text }) => {
  expect(() => createAuthenticate(auth)).toThrow(text);
});
