import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import {
  endsSplit,
  failureCode,
  failureOfStatus,
  isWorthSplitting,
} from "../../../src/domain/extraction/work.ts";

describe("the reason of a failed extraction", () => {
  test.each([
    [400, "BadRequestError"],
    [401, "AuthenticationError"],
    [403, "PermissionDeniedError"],
    [404, "NotFoundError"],
    [413, "BadRequestError"],
    [422, "UnprocessableEntityError"],
    [429, "RateLimitError"],
    [500, "InternalServerError"],
    [529, "InternalServerError"],
  ])("is told by the status %i of the provider", (status, code) => {
    expect(String(failureOfStatus(status))).toBe(code);
    expect(failureCode(new SvcError("model_failed", "x", { status }))).toBe(code);
  });

  test("is the first known one among the causes", () => {
    const cause = Object.assign(new Error("inner"), { name: "RateLimitError" });
    expect(failureCode(new Error("outer", { cause }))).toBe("RateLimitError");
  });

  test("is otherwise the last name, in plain characters", () => {
    const cause = Object.assign(new Error("inner"), { name: "Odd Näme!" });
    expect(failureCode(new Error("outer", { cause }))).toBe("OddNme");
    expect(failureCode("text")).toBe("Error");
    expect(failureCode(Object.assign(new Error(""), { name: "x".repeat(500) }))).toHaveLength(100);
  });

  test("ends for a chain of causes that has no end", () => {
    const error = new Error("loop");
    error.cause = error;
    expect(failureCode(error)).toBe("Error");
  });

  test("decides whether a request is asked again in halves", () => {
    expect(["ValidationError", "TimeoutError", "BadRequestError"].every(isWorthSplitting)).toBe(
      true,
    );
    expect(["RateLimitError", "InternalServerError", "Error"].some(isWorthSplitting)).toBe(false);
    expect(endsSplit("TimeoutError")).toBe(true);
    expect(endsSplit("ValidationError")).toBe(false);
  });
});
