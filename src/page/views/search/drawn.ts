import { useEffect, useState } from "preact/hooks";

/** Rows that fill a window. */
const FIRST = 20;
/** The rest comes in a few steps, between which keys and clicks get a turn. */
const GROWTH = 3;

/**
 * How many rows of a long list to draw: first those that may be seen, all others once these are painted.
 * @param of the id of what is listed; with another one it begins again, and not when the same is read again
 */
export function useDrawn(of: string, total: number): number {
  const [drawn, setDrawn] = useState({ of, count: FIRST });
  const count = drawn.of === of ? drawn.count : FIRST;
  useEffect(() => {
    if (count >= total) return;
    const timer = setTimeout(() => setDrawn({ of, count: count * GROWTH }));
    return () => clearTimeout(timer);
  }, [of, count, total]);
  return Math.min(count, total);
}
