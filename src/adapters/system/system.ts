import { readFileSync } from "node:fs";
import { uuidV7 } from "../../lib/hashing.ts";
import { fromEpochMicros } from "../../lib/instant.ts";
import type { Clock, IdSource } from "../../ports/system.ts";

/** Sources of time that a clock reads, in milliseconds. */
type TimeSources = {
  /** Since the Unix epoch, whole milliseconds; the system may set it back or forward. */
  readonly wallMs: () => number;
  /** Monotonic, with a fraction; may stop while the machine sleeps. */
  readonly steadyMs: () => number;
};

const SYSTEM: TimeSources = { wallMs: () => Date.now(), steadyMs: () => performance.now() };

/**
 * A clock in microseconds. It follows the system's clock, takes the digits below the millisecond from the steady one, and
 * never returns the same or an earlier instant twice, even if the system's clock is set back.
 */
export function createSystemClock(sources: TimeSources = SYSTEM): Clock {
  let offsetMs = sources.wallMs() - sources.steadyMs();
  let lastMicros = 0;
  return {
    now: () => {
      const wall = sources.wallMs();
      const steady = sources.steadyMs();
      const isInStep = steady + offsetMs >= wall && steady + offsetMs < wall + 1;
      // The two drift apart when the clock is set or after the machine slept: then the wall clock is right.
      if (!isInStep) offsetMs = wall - steady;
      lastMicros = Math.max(lastMicros + 1, Math.floor((steady + offsetMs) * 1000));
      return fromEpochMicros(lastMicros);
    },
  };
}

/** Fresh UUIDv7 identifiers, ascending within the process. */
export function createIdSource(): IdSource {
  return { next: uuidV7 };
}

/** For a system user without a name, as in some containers. */
const NAMELESS = "me";

/**
 * The name of the system user who runs this process: from the session, else from the list of users.
 * @param environment the variables of the process
 * @param list the file with the users, as passwd(5) describes it
 */
export function systemUserName(
  environment: Readonly<Record<string, string | undefined>>,
  list = "/etc/passwd",
): string {
  const { USER, LOGNAME, USERNAME } = environment;
  const isName = (name = "") => name.trim() !== "" && name.isWellFormed();
  const name = [USER, LOGNAME, USERNAME].find(isName) ?? listedName(list);
  return isName(name) ? (name ?? "").trim() : NAMELESS;
}

function listedName(path: string): string | undefined {
  const uid = process.getuid?.();
  try {
    const users = readFileSync(path, "utf8").split("\n");
    return users.map((line) => line.split(":")).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    // Some systems keep their users elsewhere.
    return undefined;
  }
}

/** The variables for the user's language. A subset of `process.env`. */
type LanguageEnvironment = Readonly<Record<string, string | undefined>>;

/** POSIX variables, in order of precedence. */
const VARIABLES = ["LC_ALL", "LC_MESSAGES", "LANG"] as const;

/** The language of the system, two or three lower-case letters: `de` for `de_DE.UTF-8`. English if unset or neutral (`C`, `POSIX`). */
export function systemLanguage(environment: LanguageEnvironment): string {
  const value = VARIABLES.map((name) => environment[name]).find((text) => text) ?? "";
  const [, language] = /^([a-z]{2,3})(?:[_.@-]|$)/i.exec(value) ?? [];
  return language?.toLowerCase() ?? "en";
}
