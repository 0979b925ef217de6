import { describe, expect, test } from "bun:test";
import * as errors from "../../src/domain/errors.ts";
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  InvalidArgumentError,
  invalid,
  MaterializationError,
  PackError,
  reasonCode,
  SvcError,
} from "../../src/domain/errors.ts";

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

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
      name: "StorageError",
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

describe("the class of an error", () => {
  const classes = new Map<string, unknown>(Object.entries(errors));

  test.each(CODES)("goes by the code: %s", (code) => {
    const error = new SvcError(code, "x");
    const byName = classes.get(error.name);
    expect(byName).toBeFunction();
    expect(error.constructor).toBe(byName as typeof SvcError);
    expect(error).toBeInstanceOf(byName as typeof SvcError);
    expect(error).toBeInstanceOf(SvcError);
    expect(String(error)).toBe(`${error.name}: x`);
  });

  test("groups the codes", () => {
    const of = (group: abstract new (...args: never) => SvcError) =>
      CODES.filter((code) => new SvcError(code, "x") instanceof group);
    expect(of(InvalidArgumentError)).toEqual([
      "invalid_argument",
      "invalid_speaker",
      "request_conflict",
      "invalid_transition",
      "memory_replaced",
      "stale_profile",
      "bad_citation",
      "unauthenticated_bind",
      "namespace_mismatch",
    ]);
    expect(of(PackError)).toEqual([
      "not_a_pack",
      "pack_too_new",
      "pack_too_old",
      "pack_read_only",
      "encryption_failed",
      "pack_in_use",
      "pack_locked",
    ]);
  });

  test("tells apart what shares a group", () => {
    const error = new SvcError("pack_in_use", "x");
    expect([
      error instanceof errors.PackInUseError,
      error instanceof errors.EncryptionError,
    ]).toEqual([true, false]);
  });

  test("gives what its code promises in data", () => {
    const data = { event_id: "e1", reason_code: "disk_full" };
    const error: unknown = new SvcError("materialization_failed", "x", data);
    if (!(error instanceof MaterializationError)) throw new Error("another class");
    expect([error.code, error.eventId, error.reasonCode]).toEqual([
      "materialization_failed",
      "e1",
      "disk_full",
    ]);
    const refused: unknown = invalid("scope", "is wrong");
    expect(refused instanceof InvalidArgumentError && refused.field).toBe("scope");
  });

  test("is that of a subclass which is named when it is made", () => {
    const error = new PackError("pack_in_use", "x", {}, { cause: "below" });
    expect([error instanceof errors.PackInUseError, error.cause]).toEqual([true, "below"]);
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
