import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/until-aborted.ts";
import { callFailed, keyMissing, timedOut } from "./failures.ts";
import { type LoadedProvider, loadProvider } from "./load-provider.ts";
import type { LanguageModelOptions } from "./options.ts";

const TRANSPORT_RETRIES = 2;

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
 * connections with pauses between retries.
 */
export function createCaller(options: LanguageModelOptions): CallModel {
  let loaded: Promise<LoadedProvider> | undefined;
  return async (bounds, call) => {
    bounds.signal?.throwIfAborted();
    if (options.provider !== "ollama" && options.apiKey === undefined) throw keyMissing(options);
    const deadline = AbortSignal.timeout(bounds.timeoutMs);
    const signal =
      bounds.signal === undefined ? deadline : AbortSignal.any([bounds.signal, deadline]);
    loaded ??= loadProvider(options);
    try {
      const { model, settings } = await loaded;
      // By default the library prints its warnings to standard output, which belongs to the protocol.
      globalThis.AI_SDK_LOG_WARNINGS = false;
      const maxRetries = options.transportRetries ?? TRANSPORT_RETRIES;
      const called = { model, settings: { ...settings, maxRetries, abortSignal: signal } };
      return await untilAborted(call(called), signal);
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (deadline.aborted) throw timedOut(options, bounds.timeoutMs);
      throw error instanceof SvcError ? error : callFailed(options, await failureOf(error));
    }
  };
}

/** What failed, without the texts that the library's errors carry. */
async function failureOf(error: unknown) {
  const { APICallError, RetryError } = await import("ai");
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const name = last instanceof Error ? last.name : "unknown failure";
  return { name, status: APICallError.isInstance(last) ? last.statusCode : undefined };
}
