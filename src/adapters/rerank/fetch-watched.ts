import { reach } from "../network/reach.ts";

/** A response that is abandoned if its host falls silent. */
export type WatchedResponse = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the host does not say. */
  readonly totalBytes: number | undefined;
  /** SHA-256 of the content as announced by the host, 64 hexadecimal digits. */
  readonly sha256: string | undefined;
  /** Empty unless the status is 200. */
  readonly body: AsyncIterable<Uint8Array>;
};

export type WatchOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte, of headers or of content. */
  readonly stallTimeoutMs: number;
};

/** A host that answered, or stayed silent, in a way that ends the download. The message contains no secret. */
export class RefusedError extends Error {}

const MAX_REDIRECTS = 5;

/**
 * Fetches a file and follows redirects, whose headers tell its commit and its hash. Neither a host that accepts and stays
 * silent nor one that stops in the middle can hold the call for longer than the limit; without this, fetch waits for ever.
 * @throws RefusedError if the host is silent or redirects without end, the signal's reason when it is aborted, and the
 *   network's own error
 */
export async function fetchWatched(url: string, options: WatchOptions): Promise<WatchedResponse> {
  const watch = createWatch(options);
  const announced = new Headers();
  let target = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const response = await watch.guard(
      reach(target, {
        redirect: "manual",
        signal: watch.signal,
        // The length of a compressed answer would not be that of the file.
        headers: { "accept-encoding": "identity" },
      }),
    );
    for (const name of ["x-repo-commit", "x-linked-etag"]) {
      const value = response.headers.get(name);
      if (value !== null && !announced.has(name)) announced.set(name, value);
    }
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) {
      if (response.status !== 200) discard(response);
      return watched(response, announced, watch);
    }
    discard(response);
    target = redirectTarget(target, location);
  }
  throw new RefusedError(`the host redirected more than ${MAX_REDIRECTS} times`);
}

/** Target of a redirect. @throws RefusedError if it leaves an encrypted connection */
export function redirectTarget(from: string, location: string): string {
  const to = new URL(location, from);
  const isSafe = to.protocol === "https:" || to.protocol === new URL(from).protocol;
  if (!isSafe) throw new RefusedError("the host redirected to an address that is not encrypted");
  return to.href;
}

function watched(response: Response, announced: Headers, watch: Watch): WatchedResponse {
  const isPlain = (response.headers.get("content-encoding") ?? "identity") === "identity";
  const length = isPlain ? response.headers.get("content-length") : null;
  const etag = (announced.get("x-linked-etag") ?? "").replaceAll('"', "");
  return {
    status: response.status,
    headers: announced,
    totalBytes: length === null ? undefined : Number(length),
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : undefined,
    body: pieces(response, watch),
  };
}

async function* pieces(response: Response, watch: Watch): AsyncGenerator<Uint8Array> {
  if (response.body === null || response.status !== 200) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await watch.guard(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // As in `discard`.
    void reader.cancel().catch(() => {});
  }
}

/** Not awaited: a hanging connection would delay its own end. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

type Watch = {
  readonly signal: AbortSignal;
  /** The value of a step; rejects if the step takes longer than the limit, or the caller aborts. */
  guard<T>(step: Promise<T>): Promise<T>;
};

function createWatch({ signal, stallTimeoutMs }: WatchOptions): Watch {
  const stop = new AbortController();
  return {
    signal: AbortSignal.any([signal, stop.signal]),
    guard: async (step) => {
      const seconds = stallTimeoutMs / 1000;
      const message = `the host sent nothing for ${seconds} seconds`;
      let giveUp = (_reason: unknown): void => {};
      const silence = new Promise<never>((_, reject) => {
        giveUp = reject;
      });
      const onAbort = (): void => giveUp(signal.reason);
      const timer = setTimeout(() => {
        const reason = new RefusedError(message);
        giveUp(reason);
        stop.abort(reason);
      }, stallTimeoutMs);
      signal.addEventListener("abort", onAbort, { once: true });
      // The race handles both promises in any case: the step of a signal that is aborted already rejects too.
      if (signal.aborted) onAbort();
      try {
        return await Promise.race([silence, step]);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}
