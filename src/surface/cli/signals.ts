/** Exit code of a command that a person interrupted. */
export const INTERRUPTED = 130;
/** Exit code after SIGTERM, as of a process that does not handle it. */
const TERMINATED = 143;

/** Thrown by a command that was asked to stop. The message says what remains and how to continue. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/**
 * Ends a one-shot command at once on Ctrl-C or SIGTERM: what was acknowledged is safe, everything else is rolled back by the store. A
 * second signal does not interrupt closing the pack, which takes at most one busy timeout.
 */
export function exitOnSignal(): void {
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", terminate);
}

function interrupt(): void {
  process.exit(INTERRUPTED);
}

function terminate(): void {
  process.exit(TERMINATED);
}

/**
 * The request to stop a server or long work: aborts at SIGINT or SIGTERM. The second of a kind ends the process at once; one of each
 * does not, since the parent process may pass a SIGTERM on for a Ctrl-C.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let isInterrupted = false;
  let isTerminated = false;
  process.on("SIGTERM", () => {
    if (isTerminated) terminate();
    isTerminated = true;
    controller.abort();
  });
  process.on("SIGINT", () => {
    if (isInterrupted) interrupt();
    isInterrupted = true;
    controller.abort();
  });
  // Now every signal has a handler.
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", terminate);
  return controller.signal;
}

/** Long work that the person may stop. @param told what remains then, and how to continue @throws Interrupted then */
export async function stoppable<T>(
  told: string,
  work: (stop: AbortSignal) => Promise<T>,
  stop = stopSignal(),
): Promise<T> {
  try {
    return await work(stop);
  } catch (error) {
    throw stop.aborted ? new Interrupted(told) : error;
  }
}

/** Resolves once the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
