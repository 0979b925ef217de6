import { signal } from "@preact/signals";
import { asFailure } from "./failure.ts";
import { post, useKey } from "./http.ts";

const SESSION = "/v1/inspector/session";

/** What became of the code in the link of `svc open`; undefined where there was none. */
export const codeFailure = signal<string | undefined>(undefined);

/** Whether `svc open` serves the page: only there is an exchange, which refuses what has no code. */
export async function isOfOpen(): Promise<boolean> {
  try {
    await post(SESSION, {});
  } catch (error) {
    return asFailure(error).code === "invalid_argument";
  }
  return false;
}

/**
 * Exchanges the code in the address for the session's key. The code leaves the address at once, so that it stands neither in the
 * history nor on the screen; it is good only once.
 */
export async function redeemCode(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    const answer = await post(SESSION, { code });
    const { key } = Object(answer);
    if (typeof key === "string") useKey(key);
  } catch (error) {
    codeFailure.value = asFailure(error).message;
  }
}
