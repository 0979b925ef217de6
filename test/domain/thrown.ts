import { type ErrorCode, type ErrorData, SvcError } from "../../src/domain/errors.ts";

/** The error that a call raises, as comparable values. */
export type Thrown = {
  readonly code: ErrorCode;
  readonly data: ErrorData;
  readonly message: string;
};

/** Runs `call` and returns its SvcError; any other outcome fails the test. */
export function thrown(call: () => unknown): Thrown {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    if (error instanceof SvcError) {
      return { code: error.code, data: error.data, message: error.message };
    }
    throw error;
  }
  throw new Error(`nothing was thrown; the result was ${JSON.stringify(result)}`);
}
