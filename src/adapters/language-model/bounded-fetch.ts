import { AsyncLocalStorage } from "node:async_hooks";
import { openingsIn } from "../../lib/json-openings.ts";
import { reach } from "../network/reach.ts";

/** How one call of a model may end, and how it stands. */
export type Watch = {
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** What the last request failed of; undefined while it runs, and if it was answered well. */
  failure: RequestFailure | undefined;
};

/** An HTTP status that is no success; a connection that failed; an answer that is larger than it may be. */
export type RequestFailure = number | "unreachable" | "oversized";

const watches = new AsyncLocalStorage<Watch>();

/** Lists and objects of one answer. */
const MAX_OPENINGS = 100_000;

/** Calls a model. Its requests, retries included, are bounded and noted by `watch`. */
export function watched<T>(watch: Watch, call: () => Promise<T>): Promise<T> {
  return watches.run(watch, call);
}

/**
 * Fetches as the client libraries of providers should: an answer is read as far as the call may take, or its body fails, and no redirect
 * is followed, since it would take text and key to an address that nobody has set.
 */
export const boundedFetch: typeof fetch = Object.assign(
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const watch = watches.getStore();
    if (watch === undefined) throw new Error("a request came past its watch");
    watch.failure = undefined;
    const response = await reach(input, { ...init, redirect: "manual" }).catch((error) => {
      if (init?.signal?.aborted !== true) watch.failure = "unreachable";
      throw error;
    });
    if (!response.ok) watch.failure = response.status;
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded(watch)), { status, statusText, headers });
  },
  { preconnect: fetch.preconnect },
);

function bounded(watch: Watch): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let openings = 0;
  return new TransformStream({
    transform: (piece, stream) => {
      size += piece.byteLength;
      openings += openingsIn(piece);
      if (size <= watch.maxBytes && openings <= MAX_OPENINGS) return stream.enqueue(piece);
      // An answer that failed already is known by its status.
      watch.failure ??= "oversized";
      stream.error(new RangeError("an answer is too large"));
    },
  });
}
