import { signal } from "@preact/signals";
import { examine as askExamine } from "../../client/sdk.gen.ts";
import type { Examination } from "../../client/types.gen.ts";
import { now } from "../../data/clock.ts";
import { asFailure, type CallFailure } from "../../data/failure.ts";
import { answered, key } from "../../data/http.ts";

/** The last examination in this tab. What it found stays until the next one. */
export type Examining = {
  readonly data?: Examination | undefined;
  /** When it ended, in milliseconds since 1970. */
  readonly at?: number | undefined;
  readonly failure?: CallFailure | undefined;
  readonly isRunning: boolean;
};

const NONE: Examining = { isRunning: false };
export const examined = signal<Examining>(NONE);
// Another key may be of somebody who may not know it.
key.subscribe(() => {
  examined.value = NONE;
});

/** Has the server examine its pack, which takes seconds; once at a time. */
export async function examine(): Promise<void> {
  if (examined.peek().isRunning) return;
  const used = key.peek();
  examined.value = { ...examined.peek(), failure: undefined, isRunning: true };
  try {
    const data = await answered(askExamine());
    if (key.peek() === used) examined.value = { data, at: now(), isRunning: false };
  } catch (error) {
    if (key.peek() === used) examined.value = { failure: asFailure(error), isRunning: false };
  }
}
