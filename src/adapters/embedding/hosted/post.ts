import { openingsIn } from "../../../lib/json-openings.ts";
import { untilAborted } from "../../../lib/until-aborted.ts";
import { reach } from "../../network/reach.ts";

/** What a server answered. The text is empty unless the status is 200. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** An answer that is larger than it may be. */
export class OversizedError extends Error {}

export type PostOptions = {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly body: object;
  /** Bytes that the answer may have. */
  readonly maxBytes: number;
  /** Lists and objects that it may have. */
  readonly maxOpenings: number;
  readonly signal: AbortSignal;
};

/**
 * Sends one request with JSON and reads the answer as far as it may go. Redirects are not followed: the key is for this address.
 * @throws OversizedError, the signal's reason, or the network's own error
 */
export async function post(options: PostOptions): Promise<Answer> {
  const { url, apiKey, body, signal } = options;
  const response = await untilAborted(
    reach(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "accept-encoding": "identity",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    }),
    signal,
  );
  const { status, headers } = response;
  if (status !== 200) {
    void response.body?.cancel().catch(() => {});
    return { status, headers, text: "" };
  }
  return { status, headers, text: await readText(response, options) };
}

async function readText(
  response: Response,
  { maxBytes, maxOpenings, signal }: Pick<PostOptions, "maxBytes" | "maxOpenings" | "signal">,
): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let size = 0;
  let openings = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return text + decoder.decode();
      size += value.byteLength;
      openings += openingsIn(value);
      if (size > maxBytes || openings > maxOpenings) throw new OversizedError();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // Not awaited: a hanging connection would delay its own end.
    void reader.cancel().catch(() => {});
  }
}
