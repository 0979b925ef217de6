import type { ConfigInput } from "../../config/schema.ts";
import { type ErrorCode, type ErrorData, SvcError } from "../../domain/errors.ts";

/** What the client asks of the thread that runs its engine. */
export type Call =
  /** Answered with the names of the engine's methods. The first call, and the only one of its kind. */
  | { readonly kind: "open"; readonly settings: ConfigInput }
  | { readonly kind: "use"; readonly method: string; readonly args: readonly unknown[] }
  /** Calls a method that gives an asynchronous iterable. Answered with the number of its walk. */
  | { readonly kind: "iterate"; readonly method: string; readonly args: readonly unknown[] }
  /** Answered with a {@link Step} of that walk. */
  | { readonly kind: "advance"; readonly walk: number }
  /** Gives a walk up before its end. */
  | { readonly kind: "release"; readonly walk: number }
  /** Ends the thread. */
  | { readonly kind: "close" };

/** The next values of a walk, and whether they are its last. */
export type Step = { readonly values: readonly unknown[]; readonly isDone: boolean };

/** What the thread answers. Errors cross as data: a copy between threads loses their class and all that they carry. */
export type Answer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "failure"; readonly failure: Failure };

/** An error on its way between threads. */
export type Failure = {
  /** Undefined for an error that is none of ours. */
  readonly code: ErrorCode | undefined;
  readonly name: string;
  readonly message: string;
  readonly data: ErrorData;
  readonly stack: string | undefined;
  readonly cause: Failure | undefined;
};

/** Longer chains of causes are cut. */
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

/** The error again: of the same class, with code, data, causes, and both stacks. */
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
