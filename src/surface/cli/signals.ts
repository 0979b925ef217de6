/** Exit code of a command that a person interrupted. */
export const INTERRUPTED = 130;
/** Exit code after SIGTERM, as of a process that does not handle it. */
const TERMINATED = 143;

/** Thrown by a command that stopped because it was asked to. The message says what remains and how to continue. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Ends a one-shot command at once on Ctrl-C: what was acknowledged is safe, everything else is rolled back by the store. */
export function exitOnInterrupt(): void {
  process.once("SIGINT", interrupt);
}

function interrupt(): void {
  process.exit(INTERRUPTED);
}

/**
 * The request to stop a server or long work: aborts at SIGINT or SIGTERM. The second of a kind ends the process at once; one of each
 * does not, since the parent process may pass a SIGTERM on for a Ctrl-C.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let isInterrupted = false;
  process.off("SIGINT", interrupt);
  let isTerminated = false;
  process.on("SIGTERM", () => {
    if (isTerminated) process.exit(TERMINATED);
    isTerminated = true;
    controller.abort();
  });
  process.on("SIGINT", () => {
    if (isInterrupted) interrupt();
    isInterrupted = true;
    controller.abort();
  });
  return controller.signal;
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
