import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { later, now } from "../data/clock.ts";
import { lost, retryNow } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { Button } from "../parts/controls.tsx";
import { clockTime } from "../parts/format.ts";

/** Says that the server does not answer; what was read stays below. */
export function LostServer(): VNode | null {
  const state = lost.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (state === undefined) return;
    let cancel = (): void => {};
    const again = (): void => {
      tick((count) => count + 1);
      cancel = later(1000, again);
    };
    cancel = later(1000, again);
    return () => cancel();
  }, [state]);
  if (state === undefined) return null;
  const seconds = Math.max(0, Math.ceil((state.nextTry - now()) / 1000));
  return (
    <section class="box lost" role="alert">
      <h2>{t.frame.lost.title}</h2>
      <p>{t.frame.lost.text(location.host, clockTime(state.since))}</p>
      <p class="small" aria-hidden="true">
        {t.frame.lost.next(seconds)}
      </p>
      <p>
        <Button onClick={retryNow}>{t.frame.lost.retry}</Button>
      </p>
    </section>
  );
}
