/** Bytes of one answer; the longest useful ones have a few million. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Fetches as the client libraries of providers should: an answer is read up to 16 MiB, or its body fails, and no redirect is
 * followed, since it would take text and key to an address that nobody has set.
 */
export const boundedFetch: typeof fetch = Object.assign(
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded()), { status, statusText, headers });
  },
  { preconnect: fetch.preconnect },
);

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform: (piece, stream) => {
      size += piece.byteLength;
      if (size > MAX_BYTES) stream.error(new RangeError("an answer is too large"));
      else stream.enqueue(piece);
    },
  });
}
