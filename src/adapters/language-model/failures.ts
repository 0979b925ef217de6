import { statusInWords } from "../../domain/addresses.ts";
import { SvcError } from "../../domain/errors.ts";
import { type FailureCode, failureOfStatus } from "../../domain/extraction/work.ts";
import type { LanguageModelOptions } from "./options.ts";

/** What the client library reports about a failed call, without the texts that its errors carry. */
export type CallFailure = {
  /** HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The name of the library's error. */
  readonly name: string;
  /** Bytes that the answer might have had, where it had more. */
  readonly maxBytes?: number | undefined;
};

/** The name of the library's error where a server cannot be reached. */
export const UNREACHABLE = "AI_APICallError";
/** The name of a failure because of an answer that is larger than any useful one. */
export const OVERSIZED = "OversizedAnswer";

/**
 * The error of a failed call. The library's own one is left out: it carries prompt, answer and headers.
 */
export function callFailed(options: LanguageModelOptions, failure: CallFailure): SvcError {
  const { provider, model } = options;
  const { status } = failure;
  return new SvcError(
    "model_failed",
    `${provider} (${model}) ${explain(failure)}`,
    { provider, model, ...(status === undefined ? {} : { status }) },
    { cause: causeOf(failure) },
  );
}

/** Callers branch on the names of causes. */
function named(name: FailureCode): Error {
  return Object.assign(new Error(name), { name });
}

function causeOf({ status, name }: CallFailure): Error | undefined {
  if (status !== undefined) return named(failureOfStatus(status) ?? "ValidationError");
  if (name === OVERSIZED) return named("ValidationError");
  return name === UNREACHABLE ? named("APIConnectionError") : undefined;
}

function explain({ status, name, maxBytes = 0 }: CallFailure): string {
  if (name === OVERSIZED) {
    return `answered with far more than was asked for (more than ${maxBytes} bytes, or too many lists); what it sent was not read`;
  }
  if (status === undefined) {
    return name === UNREACHABLE
      ? "cannot be reached: check the network and the address"
      : `could not answer (${name})`;
  }
  return statusInWords(status);
}

/** No key for a provider that needs one. */
export function keyMissing({ provider, model }: LanguageModelOptions): SvcError {
  return new SvcError(
    "model_failed",
    `${provider} needs a key: set the api_key of its settings, or ${provider.toUpperCase()}_API_KEY`,
    { provider, model },
    { cause: named("AuthenticationError") },
  );
}

/** No answer had the requested form. */
export function formMissed({ provider, model }: LanguageModelOptions, tries: number): SvcError {
  const times = tries === 1 ? "once" : `${tries} times`;
  return new SvcError(
    "model_failed",
    `${provider} (${model}) answered ${times}, but not in the requested form; a larger model may help`,
    { provider, model },
    { cause: named("ValidationError") },
  );
}

/**
 * No answer within the limit.
 * @param failure what the last request had failed of, before another one could be made; undefined: it was still running
 */
export function timedOut(
  { provider, model }: LanguageModelOptions,
  timeoutMs: number,
  failure: CallFailure | undefined,
): SvcError {
  const what =
    failure === undefined ? `did not answer within ${timeoutMs / 1000} seconds` : explain(failure);
  return new SvcError(
    "model_timeout",
    `${provider} (${model}) ${what}`,
    { provider, model },
    { cause: (failure && causeOf(failure)) ?? named("TimeoutError") },
  );
}
