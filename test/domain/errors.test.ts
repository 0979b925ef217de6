import { describe, expect, test } from "bun:test";
import { ERROR_CATALOGUE, invalid, reasonCode, SvcError } from "../../src/domain/errors.ts";

describe("reasonCode", () => {
  const named = (name: string): Error => Object.assign(new Error("secret text"), { name });
  test.each([
    {
      name: "the code of our own error",
      error: new SvcError("embedding_failed", "secret text"),
      code: "embedding_failed",
    },
    { name: "the name of another error", error: new TypeError("secret text"), code: "TypeError" },
    { name: "a name of 100 characters", error: named("x".repeat(100)), code: "x".repeat(100) },
    { name: "Error for a longer name", error: named("x".repeat(101)), code: "Error" },
    { name: "Error for a name with blanks", error: named("my secret"), code: "Error" },
    { name: "Error for an empty name", error: named(""), code: "Error" },
    { name: "Error for a name outside ASCII", error: named("Fehlér"), code: "Error" },
    { name: "Error for thrown text", error: "secret text", code: "Error" },
    { name: "Error for nothing", error: undefined, code: "Error" },
  ])("is $name", ({ error, code }) => {
    expect(reasonCode(error)).toBe(code);
  });
});

describe("SvcError", () => {
  test("carries code, data, message and cause", () => {
    const cause = new Error("below");
    const error = new SvcError("disk_full", "no room", { path: "a.pack" }, { cause });
    expect(error).toBeInstanceOf(Error);
    expect({ ...error, message: error.message, cause: error.cause, name: error.name }).toEqual({
      name: "SvcError",
      code: "disk_full",
      data: { path: "a.pack" },
      message: "no room",
      cause,
    });
  });

  test("has empty data by default", () => {
    expect(new SvcError("internal", "x").data).toEqual({});
  });
});

test("invalid names the field in message and data", () => {
  const error = invalid("scope", "is wrong");
  expect([error.code, error.message, error.data]).toEqual([
    "invalid_argument",
    "scope: is wrong",
    { field: "scope" },
  ]);
});

test("every code is snake case and says whether a retry may help", () => {
  for (const [code, entry] of Object.entries(ERROR_CATALOGUE)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(typeof entry.retry).toBe("boolean");
  }
});
