/** Exit code of a command that a person interrupted. */
export const INTERRUPTED = 130;

/** Ends a one-shot command at once on Ctrl-C: what was acknowledged is safe, what was not is undone by the store. */
export function exitOnInterrupt(): void {
  process.once("SIGINT", interrupt);
}

function interrupt(): void {
  process.exit(INTERRUPTED);
}

/**
 * Waits for the request to stop a server (SIGINT or SIGTERM); the signal aborts then. A second one ends the process.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  process.off("SIGINT", interrupt);
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return controller.signal;
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
