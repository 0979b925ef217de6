import { type ErrorCode, SvcError } from "../../../domain/errors.ts";
import { UNNAMED } from "./row-security.ts";

/** The server did not answer in time, although it cancels statements that take too long. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly seconds: number;

  /** @param ms the time waited */
  constructor(ms: number) {
    super("no answer");
    this.seconds = Math.round(ms / 100) / 10;
  }
}

/** No connection became free in time, although the server answers. */
export class PoolBusy extends Error {
  override readonly name = "PoolBusy";
  readonly connections: number;

  /** @param connections their number */
  constructor(connections: number) {
    super("no connection became free");
    this.connections = connections;
  }
}

/** SQLSTATE with which a database rejects writes while `svc migrate` fills it. */
export const IN_USE = "55006";

/** SQLSTATE of a failure that the server reported, else the driver's code; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Bun.SQL.PostgresError)) return undefined;
  return typeof error.errno === "string" ? error.errno : error.code;
}

/** Transactions that failed because of concurrent ones: a retry succeeds. */
const CONFLICTS: ReadonlySet<string | undefined> = new Set(["40001", "40P01", "55P03"]);

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error));
}

/** Whether the server has row-level security that the connection did not know about. */
export function isUnnamed(error: unknown): boolean {
  return codeOf(error) === UNNAMED;
}

/** Whether the server was unreachable, disappeared or is silent. A pending commit may have succeeded. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof NoAnswer || isLost(error);
}

/** Whether the connection was lost, or there is none, which is known at once: a call can be retried. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code.startsWith("ERR_POSTGRES_CONN") || UNREACHABLE.test(code));
}

// Connection exceptions, an idle transaction timeout, a server that shuts down, starts up or ended the session, too many connections.
const UNREACHABLE = /^(08\w{3}|25P03|57P0[1-5]|53300|ERR_POSTGRES_(IDLE|LIFETIME)_TIMEOUT)$/;

/**
 * A failure of the server or the connection in the caller's terms. Other errors are returned unchanged.
 * @param place the database without credentials
 */
export function toSvcError(error: unknown, place: string): unknown {
  const fail = (code: ErrorCode, message: string, reason?: string): SvcError => {
    const data = reason === undefined ? { path: place } : { path: place, reason };
    return new SvcError(code, `${place}: ${message}`, data, { cause: error });
  };
  if (error instanceof NoAnswer) {
    const waited = `the database server gives no answer (for ${error.seconds} s)`;
    return fail("storage_unavailable", `${waited}. Try again when it runs.`);
  }
  if (error instanceof PoolBusy) {
    const busy = `all connections (${error.connections}) were in use for too long`;
    return fail("storage_busy", `${busy}; ${UNSTORED}. Try again, or raise database_pool_size.`);
  }
  const code = codeOf(error);
  if (code === undefined) return error;
  if (isLost(error)) {
    const lost = `the database server cannot be reached (${code})`;
    return fail("storage_unavailable", `${lost}. Try again when it runs.`);
  }
  const known = CONFLICTS.has(code) ? KNOWN[CANCELLED] : KNOWN[code];
  if (known !== undefined) return fail(...known);
  return fail("storage_failed", REASONS[code] ?? `a statement failed (${code})`, code);
}

const UNSTORED = "nothing of this operation was stored";
const CANCELLED = "57014";
const KNOWN: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  [UNNAMED]: [
    "storage_unavailable",
    `row-level security was turned on meanwhile; ${UNSTORED}. Try again.`,
  ],
  [CANCELLED]: [
    "storage_busy",
    `others are writing and did not finish in time; ${UNSTORED}. Try again.`,
  ],
  [IN_USE]: [
    "storage_busy",
    `svc migrate fills this database; ${UNSTORED}. Try again when it is done.`,
  ],
  "53100": ["disk_full", `the server's disk is full; ${UNSTORED}. Free some space and try again.`],
  "25006": [
    "pack_read_only",
    "is read-only, as a standby server is; nothing was changed. Give the address of the primary server.",
  ],
};

const REASONS: Readonly<Record<string, string>> = {
  "28000": "the user is not known to the server. Check database_url.",
  "28P01": "the password is wrong. Check database_url.",
  "3D000": "there is no such database on the server. Create it, or check database_url.",
  "42501": "the user may not do this. Grant what docs/scale.md names.",
};
