/** How many things passed, failed and were skipped. */
export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

// Colour codes, which Bun writes when a terminal or FORCE_COLOR asks for them.
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** The text as it reads without colours. */
export function withoutColours(text: string): string {
  return text.replace(COLOUR, "");
}

/**
 * Reads the summary that `bun test` prints at the end of its standard error: lines ` 3 pass`, ` 1 skip`, ` 0 fail`.
 * The last line of each kind counts, since a test may print such a line too. A test marked `todo` counts as skipped, an
 * error outside of any test as failed. A run that ended badly, or ran no test at all, has at least one failure.
 * @param output everything that `bun test` wrote.
 * @param exitCode of `bun test`; undefined when it was killed.
 */
export function readTally(output: string, exitCode: number | undefined): Tally {
  const counts = new Map<string, number>();
  for (const line of withoutColours(output).split("\n")) {
    const match = /^ ?(\d+) (pass|fail|skip|todo|errors?)\r?$/.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined) {
      counts.set(match[2].replace("errors", "error"), Number(match[1]));
    }
  }
  const count = (kind: string): number => counts.get(kind) ?? 0;
  const passed = count("pass");
  const failed = count("fail") + count("error");
  const isBad = exitCode !== 0 || passed + failed === 0;
  return {
    passed,
    failed: isBad ? Math.max(failed, 1) : failed,
    skipped: count("skip") + count("todo"),
  };
}

/** Reads the last line of pytest, such as `1 failed, 33 passed, 2 skipped in 31.49s`, in the way of {@link readTally}. */
export function readPytestTally(output: string, exitCode: number | undefined): Tally {
  const line = output.split("\n").findLast((text) => /\b\d+ \w+ in [\d.]+s/.test(text)) ?? "";
  const count = (kind: string): number => Number(new RegExp(`(\\d+) ${kind}`).exec(line)?.[1] ?? 0);
  const passed = count("passed");
  const failed = count("failed") + count("error");
  const isBad = exitCode !== 0 || passed + failed === 0;
  return { passed, failed: isBad ? Math.max(failed, 1) : failed, skipped: count("skipped") };
}

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}

/** The one line with which a check ends. */
export function closingLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`;
}
