import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** The part of a tall element that is on the screen, in pixels from its upper edge. */
type Seen = {
  readonly from: number;
  readonly to: number;
  /** Whether nothing of what was seen before is in it. */
  readonly isElsewhere: boolean;
};

/** Follows which part of an element is seen while the page is scrolled, once a frame. */
export function useSeen(element: RefObject<HTMLElement | null>): Seen {
  const seen = useSignal<Seen>({ from: 0, to: innerHeight, isElsewhere: false });
  useEffect(() => {
    let frame = 0;
    const measure = (): void => {
      frame = 0;
      const top = element.current?.getBoundingClientRect().top ?? 0;
      const now = { from: Math.max(0, -top), to: Math.max(0, innerHeight - top) };
      const { from, to } = seen.peek();
      if (now.from === from && now.to === to) return;
      seen.value = { ...now, isElsewhere: now.from >= to || now.to <= from };
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    const observer = new ResizeObserver(soon);
    observer.observe(document.body);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
      observer.disconnect();
    };
  }, []);
  return seen.value;
}
