/** Standard output failed: a full disk, a quota, a closed terminal. Already reported on stderr. */
export class Unwritten extends Error {
  override readonly name = "Unwritten";
  /** The reader has gone, which is not a failure: `svc … | head`. */
  readonly isUnread: boolean;

  constructor(cause: Error) {
    const code = "code" in cause ? String(cause.code) : cause.message;
    super(`standard output cannot be written: ${REASONS[code] ?? code}`, { cause });
    this.isUnread = code === "EPIPE";
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
  EIO: "the terminal or the disk is gone",
};

let failure: Unwritten | undefined;
/** Wakes callers waiting for a write that did not fit. */
let wake: (() => void) | undefined;

/** Handles stream errors of this process; otherwise they would end it with a dump. */
export function watchStandardOutput(): void {
  process.stdout.on("error", (error) => {
    if (failure === undefined) {
      failure = new Unwritten(error);
      if (!failure.isUnread) process.stderr.write(`Error: ${failure.message}\n`);
    }
    wake?.();
  });
  process.stdout.on("drain", () => wake?.());
  // There is no other place to report it.
  process.stderr.on("error", () => {});
  process.on("exit", () => {
    if (failure?.isUnread === false) process.exitCode = 1;
  });
}

/** Text for people. @throws Unwritten after a failure */
export function print(text: string): void {
  if (failure !== undefined) throw failure;
  process.stdout.write(forTerminal(text));
}

/** The styles that svc itself writes, which neither move the cursor nor hide text. */
const STYLE = String.raw`\u001b\[(?:1|2|22|3[1-3]|39)m`;
/**
 * Characters that steer a terminal or hide text: control characters except tabs and line feeds, lone surrogates, other line ends, direction
 * changes.
 */
const UNSAFE = String.raw`[\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?![\t\n])\p{Cc}`;
const STEERING = new RegExp(`${STYLE}|${UNSAFE}`, "gu");

/** A text made safe for a terminal: everything is shown and has no effect. In JSON its meaning is unchanged. */
export function forTerminal(text: string): string {
  return text.replace(STEERING, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Text for people on stderr. */
export function printError(text: string): void {
  process.stderr.write(forTerminal(text));
}

/** A chunk of data. Resolves when standard output accepts more. @throws Unwritten */
export async function printAndWait(text: string): Promise<void> {
  if (failure !== undefined) throw failure;
  // Elsewhere it is written byte for byte.
  if (process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text)) return;
  await new Promise<void>((resolve) => {
    wake = resolve;
  });
  if (failure !== undefined) throw failure;
}
