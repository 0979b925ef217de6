import { withoutColours } from "./tally.ts";

/** Milliseconds between two lines of progress. */
const PERIOD_MS = 15_000;

const RESULT = /^\((pass|fail|skip|todo)\) (.*)$/;
const FILE = /^(\S+\.test\.ts):$/;

/**
 * How far a run of `bun test` is, read off its output as it appears: a line for each failed test at once, and a line every
 * 15 seconds that tests end.
 */
export class Progress {
  #rest = "";
  #file = "";
  #passed = 0;
  #failed = 0;
  #started: number | undefined;
  #told = 0;
  readonly #files = new Set<string>();

  /**
   * Reads a piece of output.
   * @param now milliseconds of a monotonic clock.
   * @returns what to print, without the final line break; undefined when there is nothing to tell
   */
  read(text: string, now: number): string | undefined {
    this.#started ??= now;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const told = lines.flatMap((line) => this.#take(withoutColours(line)) ?? []);
    const since = now - this.#started;
    if (since - this.#told >= PERIOD_MS) {
      this.#told = since;
      told.push(this.#summary(since));
    }
    return told.length > 0 ? told.join("\n") : undefined;
  }

  #take(line: string): string | undefined {
    const file = FILE.exec(line)?.[1];
    if (file !== undefined) {
      this.#file = file;
      this.#files.add(file);
      return undefined;
    }
    const [, kind, name] = RESULT.exec(line) ?? [];
    if (kind === "pass") this.#passed += 1;
    if (kind !== "fail") return undefined;
    this.#failed += 1;
    return `     FAIL ${this.#file}: ${name}`;
  }

  #summary(since: number): string {
    const counts = `${this.#passed} passed, ${this.#failed} failed, in ${this.#files.size} files`;
    return `     ${Math.round(since / 1000)} s: ${counts}`;
  }
}
