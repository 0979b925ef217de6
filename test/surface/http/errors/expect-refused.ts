import { expect } from "bun:test";
import type { ErrorCode } from "../../../../src/domain/errors.ts";
import { ERROR_MAP } from "../../../../src/surface/contract/error-map.ts";
import type { Answer } from "../engine-app.ts";

/** Expects a refusal of a code with its documented status. */
export function expectRefused(code: ErrorCode, answer: Answer, detail: string | RegExp): void {
  const { detail: given, ...rest } = answer.json;
  const wanted = detail instanceof RegExp ? expect.stringMatching(detail) : detail;
  expect({ status: answer.status, detail: given }).toEqual({
    status: ERROR_MAP[code].httpStatus,
    detail: wanted,
  });
  expect(Object.keys(rest)).toEqual([]);
}
