/** Milliseconds since 1970, by the clock of this browser. */
export function now(): number {
  return Date.now();
}

/** Runs after some milliseconds. @returns what cancels it */
export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
