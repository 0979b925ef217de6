import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/until-aborted.ts";
import { type Watch, watched } from "./bounded-fetch.ts";
import {
  type CallFailure,
  callFailed,
  keyMissing,
  OVERSIZED,
  timedOut,
  UNREACHABLE,
} from "./failures.ts";
import { type LoadedProvider, loadProvider } from "./load-provider.ts";
import type { LanguageModelOptions } from "./options.ts";

const TRANSPORT_RETRIES = 2;
/** Bytes of one answer; the longest useful ones have a few million. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The bounds of one call. */
type Bounds = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined };

/** What a call gets of its provider: the model, and the settings of every request to it. */
export type Called = Pick<LoadedProvider, "model"> & {
  readonly settings: LoadedProvider["settings"] & {
    readonly maxRetries: number;
    readonly abortSignal: AbortSignal;
  };
};

/** Calls a model. @throws SvcError model_failed, model_timeout, without the texts that the errors of the library carry */
export type CallModel = <T>(bounds: Bounds, call: (called: Called) => Promise<T>) => Promise<T>;

/**
 * A model behind the AI SDK. Its client is loaded by the first call. The time limit of a call covers everything: loading, and lost
 * connections with pauses between retries. Where it ends in such a pause, the failure before it is told.
 * @param maxBytes of one answer
 */
export function createCaller(options: LanguageModelOptions, maxBytes = MAX_BYTES): CallModel {
  let loaded: Promise<LoadedProvider> | undefined;
  return async (bounds, call) => {
    bounds.signal?.throwIfAborted();
    if (options.provider !== "ollama" && options.apiKey === undefined) throw keyMissing(options);
    const deadline = AbortSignal.timeout(bounds.timeoutMs);
    const signal = AbortSignal.any([
      deadline,
      ...(bounds.signal === undefined ? [] : [bounds.signal]),
    ]);
    loaded ??= loadProvider(options);
    const watch: Watch = { maxBytes, failure: undefined };
    try {
      const { model, settings } = await loaded;
      // By default the library prints its warnings to standard output, which belongs to the protocol.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      const maxRetries = options.transportRetries ?? TRANSPORT_RETRIES;
      const called = { model, settings: { ...settings, maxRetries, abortSignal: signal } };
      const answer = watched(watch, () => call(called));
      return await untilAborted(answer, signal);
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (error instanceof SvcError) throw error;
      const known = noted(watch);
      if (deadline.aborted) throw timedOut(options, bounds.timeoutMs, known);
      throw callFailed(options, known ?? (await failureOf(error)));
    }
  };
}

/** What a watch has noted that the library does not tell; undefined: it does. */
function noted({ failure, maxBytes }: Watch): CallFailure | undefined {
  if (failure === undefined) return undefined;
  if (failure === "oversized") return { name: OVERSIZED, status: undefined, maxBytes };
  if (failure === "unreachable") return { name: UNREACHABLE, status: undefined };
  return { name: "", status: failure };
}

/** What failed, without the texts that the library's errors carry. */
async function failureOf(error: unknown) {
  const { APICallError, RetryError } = await import("ai");
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const name = last instanceof Error ? last.name : "unknown failure";
  return { name, status: APICallError.isInstance(last) ? last.statusCode : undefined };
}
