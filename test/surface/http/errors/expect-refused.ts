import { expect } from "bun:test";
import type { ErrorCode } from "../../../../src/domain/errors.ts";
import { ERROR_MAP } from "../../../../src/surface/contract/core/error-map.ts";
import type { Answer } from "../engine-app.ts";

/** Expects a refusal of a code with its documented status. */
export function expectRefused(code: ErrorCode, answer: Answer, detail: string | RegExp): void {
  const { detail: given, code: named, ...rest } = answer.json;
  const wanted = detail instanceof RegExp ? expect.stringMatching(detail) : detail;
  expect({ status: answer.status, code: named, detail: given }).toEqual({
    status: ERROR_MAP[code].httpStatus,
    code: ERROR_MAP[code].exposed ? code : "internal",
    detail: wanted,
  });
  expect(Object.keys(rest)).toEqual([]);
}
