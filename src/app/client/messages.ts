import type { ConfigInput } from "../../config/schema.ts";
import { type ErrorCode, type ErrorData, SvcError } from "../../domain/errors.ts";

/** Requests of the client to the thread that runs its engine. */
export type Call =
  /** Answered with the names of the engine's methods. Sent first, and only once. */
  | { readonly kind: "open"; readonly settings: ConfigInput }
  | { readonly kind: "use"; readonly method: string; readonly args: readonly unknown[] }
  /** Calls a method that returns an asynchronous iterable. Answered with the number of its walk. */
  | { readonly kind: "iterate"; readonly method: string; readonly args: readonly unknown[] }
  /** Answered with a {@link Step} of that walk. */
  | { readonly kind: "advance"; readonly walk: number }
  /** Abandons a walk. */
  | { readonly kind: "release"; readonly walk: number }
  /** Ends the thread. */
  | { readonly kind: "close" };

/** The next values of a walk, and whether they are the last. */
export type Step = { readonly values: readonly unknown[]; readonly isDone: boolean };

/** Answers of the thread. Errors cross as data: a copy between threads loses their class and their members. */
export type Answer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "failure"; readonly failure: Failure };

/** An error in transit between threads. */
export type Failure = {
  /** Undefined for an error that is not ours. */
  readonly code: ErrorCode | undefined;
  readonly name: string;
  readonly message: string;
  readonly data: ErrorData;
  readonly stack: string | undefined;
  readonly cause: Failure | undefined;
};

/** Longer chains of causes are truncated. */
const MAX_CAUSES = 8;

/** An error as data, with its causes. */
export function toFailure(error: unknown, depth = 0): Failure {
  if (!(error instanceof Error)) {
    return { ...NO_ERROR, message: String(error) };
  }
  return {
    code: error instanceof SvcError ? error.code : undefined,
    name: error.name,
    message: error.message,
    data: error instanceof SvcError ? error.data : {},
    stack: error.stack,
    cause:
      error.cause === undefined || depth === MAX_CAUSES
        ? undefined
        : toFailure(error.cause, depth + 1),
  };
}

const NO_ERROR = {
  code: undefined,
  name: "Error",
  data: {},
  stack: undefined,
  cause: undefined,
} as const;

/** The error restored: with the same class, code, data, causes, and both stacks. */
export function toError(failure: Failure): Error {
  const { code, name, message, data } = failure;
  const options = failure.cause === undefined ? undefined : { cause: toError(failure.cause) };
  const error =
    code === undefined
      ? Object.assign(new Error(message, options), { name })
      : new SvcError(code, message, data, options);
  if (failure.stack !== undefined) {
    error.stack = `${error.stack ?? ""}\n    in the thread of the engine:\n${failure.stack}`;
  }
  return error;
}
