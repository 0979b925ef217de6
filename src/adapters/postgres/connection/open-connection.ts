import { databasePlace } from "../../../domain/addresses.ts";
import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS, type AllOwners, isEverybody, type Owner } from "../../../domain/owner.ts";
import { isList } from "../../sql/statement.ts";
import { ownerKey, sortedKeys } from "../owner-key.ts";
import { isConflict, isLost, isUnnamed, isUnreachable, toSvcError } from "./failures.ts";
import { listText } from "./insert-many.ts";
import { type Bound, CONNECT_LIMIT_MS, type Connection, Pool } from "./pool.ts";
import { APPLICATION, SEE, visible } from "./row-security.ts";
import type { Database, Sql, SqlValue, Statements, WriteSql } from "./sql.ts";

export type ConnectionOptions = {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Application name of the connections. Default `svc`. */
  readonly name?: string | undefined;
  /** Connections at most. */
  readonly poolSize: number;
  /** Whether statements are prepared once per connection; gives wrong results behind a transaction pooler. */
  readonly prepare: boolean;
  /** Whether the tables are partitioned, so that planning a statement takes longer than running it. Default false. */
  readonly isPartitioned?: boolean | undefined;
  /** Milliseconds allowed for a statement, and for a call to wait for a connection. */
  readonly statementTimeoutMs: number;
  /** Whether the server is read-only. Default false. */
  readonly isReadOnly?: boolean | undefined;
  /** Schemas in which names are looked up; tables are created in the first one. Default: those of the user. */
  readonly searchPath?: readonly string[] | undefined;
  /** Whether the server shows only rows of the owners of a call. Default: not until it reports so. */
  readonly isWalled?: boolean | undefined;
};

/** Attempts of a transaction that conflicts with others, and of a read that lost its connection. */
const TRIES = 5;
const READ_TRIES = 3;

/** Opens connections on demand; none before the first call. */
export function openConnection(options: ConnectionOptions): Database {
  const { url, poolSize, statementTimeoutMs } = options;
  const sight = new Sight(options.isWalled);
  const pool = new Pool(() => createClient(options), {
    limitMs: statementTimeoutMs,
    size: poolSize,
  });
  const place = databasePlace(url);
  let closing: Promise<void> | undefined;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new SvcError("engine_closed", "the database was closed");
    try {
      return await work();
    } catch (error) {
      throw toSvcError(error, place);
    }
  };
  const isPassing = (error: unknown): boolean => isConflict(error) || sight.adapts(error);
  const writeOnce = <T>(
    owners: Owner | readonly string[],
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> =>
    again(() => inTransaction(pool, ["BEGIN", sight.of(owners)], work), isPassing, TRIES);
  const groups = new WriteGroups(writeOnce);
  const pending = new Set<Promise<unknown>>();
  const counted = <T>(work: () => Promise<T>): Promise<T> => {
    const done = guarded(work);
    const settled = done.catch(() => {}).finally(() => pending.delete(settled));
    pending.add(settled);
    return done;
  };
  const write =
    (mode: "known" | "new"): Database["write"] =>
    (userIds, work) =>
      counted(() => groups.run([...new Set([userIds].flat())], mode, work));
  // Each statement has its own connection, so work that requests another one cannot deadlock.
  const readingOf = (owner: Owner): Sql => ({
    ...sqlOn(statementsOf(pool, sight.of(owner))),
    beyondWall: sqlOn(statementsOf(pool, sight.of(ALL_OWNERS))),
  });
  const names = new OwnerNames();
  return {
    read: (owner, work) =>
      counted(() =>
        again(
          () => names.reading(owner, work)(readingOf(owner)),
          (error) => isLost(error) || sight.adapts(error),
          READ_TRIES,
        ),
      ),
    snapshot: (owner, work) =>
      counted(() =>
        again(
          () => inTransaction(pool, [SNAPSHOT, sight.of(owner)], names.reading(owner, work)),
          (error) => isLost(error) || isPassing(error),
          READ_TRIES,
        ),
      ),
    write: write("known"),
    writeNew: write("new"),
    writeAny: (work) => counted(() => writeOnce(ALL_OWNERS, work)),
    alone: (text) =>
      counted(async () => void (await pool.lend((connection) => connection.ask(text, [])))),
    close: () => {
      closing ??= Promise.all(pending).then(() => pool.close());
      return closing;
    },
  };
}

const SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

type Ask = Connection["ask"];
/** The rows visible to a transaction under row-level security; undefined without it. */
type Sees = string | undefined;

/** Statements outside of a caller's transaction. */
function statementsOf(pool: Pool, sees: Sees): Ask {
  if (sees === undefined) {
    return (text, values) => pool.lend((connection) => connection.ask(text, values));
  }
  return (text, values) => transaction(pool, ["BEGIN", sees], (ask) => ask(text, values));
}

async function inTransaction<T>(
  pool: Pool,
  begin: readonly [begin: string, sees: Sees],
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const [, sees] = begin;
  return await transaction(pool, begin, (ask) => {
    const beyondWall = sees === undefined ? undefined : sqlOn(beyond(ask, sees));
    return work({ ...sqlOn(ask), ...(beyondWall && { beyondWall }) });
  });
}

/** Statements that see everything, pipelined. */
function beyond(ask: Ask, sees: string): Ask {
  return async <Row>(text: string, values?: readonly Bound[]) => {
    const [, answer] = await Promise.all([
      ask(SEE, [visible(ALL_OWNERS)]),
      ask<Row>(text, values),
      ask(SEE, [sees]),
    ]);
    return answer;
  };
}

/** @param begin the statement that begins it, and the rows visible to it */
async function transaction<T>(
  pool: Pool,
  [begin, sees]: readonly [string, Sees],
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  return await pool.lend(async (connection) => {
    const ask: Ask = (text, values) => connection.ask(text, values);
    await (sees === undefined ? ask(begin) : Promise.all([ask(begin), ask(SEE, [sees])]));
    let value: T;
    try {
      value = await work(ask);
    } catch (error) {
      // If the server cannot be notified any more, it ends the transaction with the connection.
      await connection.ask("ROLLBACK").catch(() => connection.drop());
      throw error;
    }
    const { command } = await connection.ask("COMMIT");
    if (command === "COMMIT") return value;
    throw new SvcError(
      "storage_failed",
      "a statement of the transaction had failed, and so nothing of this operation was stored",
    );
  });
}

/** Seconds of silence after which the server probes this machine, and between further probes. */
const ASK_AFTER = 60;
const ASK_EVERY = 10;
const ASK_TIMES = 6;
/** Minimum milliseconds that a transaction may wait for its next statement. */
const IDLE_MIN_MS = 60_000;

function createClient(options: ConnectionOptions): Bun.SQL {
  const { url, poolSize, prepare, statementTimeoutMs, isReadOnly = false, searchPath } = options;
  const { isPartitioned = false } = options;
  return new Bun.SQL({
    url,
    adapter: "postgres",
    max: poolSize,
    prepare,
    // Seconds; a connection stays open while the program runs.
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: CONNECT_LIMIT_MS / 1000,
    connection: {
      application_name: options.name ?? searchPath?.[0] ?? APPLICATION,
      ...(searchPath && { search_path: searchPath.map(quoted).join(", ") }),
      // JIT compilation would take longer than any of our statements.
      jit: "off",
      // A prepared statement is planned once, for any owner: each plan prunes to one partition.
      ...(prepare && isPartitioned && { plan_cache_mode: "force_generic_plan" }),
      TimeZone: "UTC",
      statement_timeout: String(statementTimeoutMs),
      // Locks of a machine that vanished are released after these.
      idle_in_transaction_session_timeout: String(Math.max(statementTimeoutMs, IDLE_MIN_MS)),
      tcp_keepalives_idle: String(ASK_AFTER),
      tcp_keepalives_interval: String(ASK_EVERY),
      tcp_keepalives_count: String(ASK_TIMES),
      default_transaction_read_only: isReadOnly ? "on" : "off",
    },
  });
}

/** A name as SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Retries work up to this many times, with growing, randomized pauses. */
async function again<T>(
  work: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  tries: number,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === tries || !isPassing(error)) throw error;
      await Bun.sleep(2 ** attempt * 5 * (0.5 + Math.random()));
    }
  }
}

/** Statements, by the connection that runs them. */
function sqlOn(ask: Ask): Statements {
  const asked = <Row>(text: string, values: readonly SqlValue[]) =>
    ask<Row>(text, values.map(bound));
  return {
    all: async <Row>(text: string, ...values: readonly SqlValue[]) =>
      [...(await asked<Row>(text, values))].map(decoded),
    get: async <Row>(text: string, ...values: readonly SqlValue[]) => {
      const [row] = await asked<Row>(text, values);
      return row === undefined ? undefined : decoded(row);
    },
    run: async (text, ...values) => (await asked(text, values)).count,
  };
}

/** A value for the driver: lists are array literals. */
function bound(value: SqlValue): Bound {
  const plain = isList(value) ? listText(value) : value;
  return typeof plain === "string" ? toStored(plain) : plain;
}

/** A row with its original texts. */
function decoded<Row>(row: Row): Row {
  const read: object = row ?? {};
  for (const [name, value] of Object.entries(read)) {
    const text = typeof value === "string" ? fromStored(value) : value;
    if (text !== value) Object.assign(read, { [name]: text });
  }
  return row;
}

/** Whose rows the transactions of a pool ask to see. Once the server says that row-level security is on, they name their owners. */
class Sight {
  #isWalled: boolean;

  constructor(isWalled = false) {
    this.#isWalled = isWalled;
  }

  /** Parameters of `SEE`; undefined without row-level security. */
  of(owners: Owner | readonly string[]): string | undefined {
    return this.#isWalled ? visible(owners) : undefined;
  }

  /** Adapts to a wall that a statement met. @returns whether it was that */
  adapts(error: unknown): boolean {
    const isNew = isUnnamed(error);
    this.#isWalled ||= isNew;
    return isNew;
  }
}

/** Owners whose names are known to be those of their numbers. */
const KNOWN_MAX = 10_000;

/** Reads for owners whose numbers are theirs: a number alone is no owner, since another user id may have it. */
class OwnerNames {
  readonly #known = new Set<string>();

  /** @throws SvcError internal if the number is that of another user id */
  reading<T>(owner: Owner, work: (sql: Sql) => Promise<T>): (sql: Sql) => Promise<T> {
    return async (sql) => {
      if (!isEverybody(owner) && !this.#known.has(owner)) await this.#ask(sql, owner);
      return await work(sql);
    };
  }

  async #ask(sql: Sql, owner: string): Promise<void> {
    const row = await sql.get<{ user_id: string }>(
      "SELECT user_id FROM owners WHERE owner = $1::bigint",
      ownerKey(owner),
    );
    if (row === undefined) return;
    if (row.user_id !== owner) throw sharedKey(owner);
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(owner);
  }
}

/**
 * A text column cannot hold U+0000 or lone surrogates, which callers' texts may contain. Each is stored as an escape that begins with
 * U+0001, which is escaped itself, so that different texts stay different.
 */
const ESCAPE = "\u0001";
const DIGITS = 4;
/** Control characters, of which two are escaped, and lone surrogates. */
const SUSPECT = /[\p{Cc}\p{Cs}]/gu;

/** A text as stored in the database. */
export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE) && text.isWellFormed()) return text;
  return text.replace(SUSPECT, (unit) => {
    const code = unit.charCodeAt(0);
    const isStorable = code > 1 && code < 0xd800;
    return isStorable ? unit : ESCAPE + code.toString(16).padStart(DIGITS, "0");
  });
}

/** A text read from the database. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  const [first = "", ...rest] = text.split(ESCAPE);
  const units = rest.map(
    (part) => String.fromCharCode(Number.parseInt(part.slice(0, DIGITS), 16)) + part.slice(DIGITS),
  );
  return first + units.join("");
}

/** Whether missing rows of owners are created. */
type Mode = "known" | "new";
type Work<T> = (sql: WriteSql) => Promise<T>;
type Task = {
  readonly mode: Mode;
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
};
/** Runs work in a transaction on owners' data. */
type Begin = <T>(
  owners: AllOwners | readonly string[],
  work: (sql: Sql) => Promise<T>,
) => Promise<T>;

/** How a task ended, reported once its transaction is committed. */
type Settle = () => void;

/** The group of writes without an owner, which takes no lock. */
const NOBODY = "";
/** Maximum calls in one transaction. */
const GROUP_MAX = 64;

const LOCK = "UPDATE owners SET version = version + 1 WHERE owner = $1::bigint RETURNING user_id";
const LOCK_OR_MAKE = `INSERT INTO owners (owner, user_id, version) VALUES ($1::bigint, $2, 1)
  ON CONFLICT (owner) DO UPDATE SET version = owners.version + 1 RETURNING user_id`;

/**
 * The writes of a process, by owner. Overlapping calls for one owner share a transaction and a commit; each runs in its own savepoint, so
 * that one that throws is rolled back alone. A call for several owners has its own transaction.
 */
class WriteGroups {
  readonly #begin: Begin;
  readonly #waiting = new Map<string, Task[]>();

  /** @param begin runs work in a transaction, rerunning it after conflicts */
  constructor(begin: Begin) {
    this.#begin = begin;
  }

  /** Runs work under the locks of its owners and resolves once it is durable. */
  run<T>(userIds: readonly string[], mode: Mode, work: Work<T>): Promise<T> {
    const [only = NOBODY, ...others] = new Set(userIds);
    if (others.length > 0) {
      return this.#begin(userIds, async (sql) => work(await lockOwners(sql, userIds, mode)));
    }
    return new Promise<T>((resolve, reject) => {
      // SAFETY: the task resolves with what its own work returned.
      const task: Task = { mode, work, resolve: (value) => resolve(value as T), reject };
      const waiting = this.#waiting.get(only);
      if (waiting !== undefined) waiting.push(task);
      else {
        this.#waiting.set(only, [task]);
        void this.#drain(only);
      }
    });
  }

  async #drain(userId: string): Promise<void> {
    // One turn of the event loop lets calls that are already here join the group.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (;;) {
      const group = this.#waiting.get(userId)?.splice(0, GROUP_MAX) ?? [];
      if (group.length === 0) {
        this.#waiting.delete(userId);
        return;
      }
      await this.#commit(userId, group);
    }
  }

  async #commit(userId: string, group: readonly Task[]): Promise<void> {
    try {
      const owners = userId === NOBODY ? ALL_OWNERS : [userId];
      const settled = await this.#begin(owners, (sql) => performAll(sql, userId, group));
      for (const settle of settled) settle();
    } catch (error) {
      for (const task of group) task.reject(error);
    }
  }
}

async function performAll(
  sql: Sql,
  userId: string,
  group: readonly Task[],
): Promise<readonly Settle[]> {
  const [only] = group;
  const mode = group.some((task) => task.mode === "new") ? "new" : "known";
  const writing = await lockOwners(sql, userId === NOBODY ? [] : [userId], mode);
  // A call that is alone in its transaction needs no savepoint: undoing it undoes the transaction.
  if (group.length === 1 && only !== undefined) return [await perform(writing, only)];
  const settled: Settle[] = [];
  for (const task of group) settled.push(await attempt(writing, task));
  return settled;
}

async function perform(sql: WriteSql, task: Task): Promise<Settle> {
  const value = await task.work(sql);
  return () => task.resolve(value);
}

/** Like `perform`, in a savepoint. Errors of the whole transaction are thrown. */
async function attempt(sql: WriteSql, task: Task): Promise<Settle> {
  await sql.run("SAVEPOINT task");
  try {
    const settle = await perform(sql, task);
    await sql.run("RELEASE SAVEPOINT task");
    return settle;
  } catch (error) {
    if (isConflict(error) || isUnnamed(error) || isUnreachable(error)) throw error;
    await sql.run("ROLLBACK TO SAVEPOINT task");
    await sql.run("RELEASE SAVEPOINT task");
    return () => task.reject(error);
  }
}

/** Locks the rows of owners, always in the same order. */
async function lockOwners(sql: Sql, userIds: readonly string[], mode: Mode): Promise<WriteSql> {
  const known = new Set<string>();
  for (const [userId, key] of sortedKeys(userIds)) {
    const row = await (mode === "new"
      ? sql.get<{ user_id: string }>(LOCK_OR_MAKE, key, userId)
      : sql.get<{ user_id: string }>(LOCK, key));
    if (row === undefined) continue;
    if (row.user_id !== userId) throw sharedKey(userId);
    known.add(userId);
  }
  return { ...sql, knows: (userId) => known.has(userId) };
}

/** If two user ids share a number, the later one has no data and cannot get any. */
function sharedKey(userId: string): SvcError {
  return new SvcError(
    "internal",
    `the user id has the number ${ownerKey(userId)}, as another one has that is in use; choose another user id`,
  );
}
