import { describe, expect, test } from "bun:test";
import { ERROR_CATALOGUE, PACK_MOVED, SvcError, UNSAFE_FILE } from "../../../src/domain/errors.ts";
import { ERROR_MAP, reportError } from "../../../src/surface/contract/core/error-map.ts";

test("every code of the catalogue has a treatment", () => {
  expect(Object.keys(ERROR_MAP).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
});

describe("reports", () => {
  test("a refused argument keeps its message", () => {
    const report = reportError(new SvcError("invalid_argument", "limit: -1 must be at least 0"));
    expect(report.message).toBe("limit: -1 must be at least 0");
    expect(report.treatment.httpStatus).toBe(422);
  });

  test.each([
    { name: "a foreign error", error: new TypeError("secret text") },
    { name: "a broken invariant", error: new SvcError("internal", "secret text") },
    { name: "a storage failure", error: new SvcError("storage_failed", "secret text") },
    { name: "a thrown string", error: "secret text" },
    {
      name: "accepted work without an event",
      error: new SvcError("materialization_failed", "secret text"),
    },
  ])("$name is internal and says nothing", ({ error }) => {
    const report = reportError(error);
    expect(report).toMatchObject({ code: "internal", message: "Internal server error" });
    expect(report.treatment.httpStatus).toBe(500);
  });

  test.each([PACK_MOVED, UNSAFE_FILE])(
    "a failure for the reason %s says so, because only the caller may notice",
    (reason) => {
      const error = new SvcError("storage_failed", "put it back", { reason });
      expect(reportError(error)).toMatchObject({
        code: "storage_failed",
        message: "put it back",
        treatment: { httpStatus: 500, exposed: true, mcp: "error", exitCode: 1 },
      });
    },
  );

  test("accepted but unfinished work carries its event and reason", () => {
    const error = new SvcError("materialization_failed", "accepted, not indexed", {
      event_id: "e1",
      reason_code: "disk_full",
    });
    expect(reportError(error).accepted).toEqual({ event_id: "e1", reason_code: "disk_full" });
  });
});
