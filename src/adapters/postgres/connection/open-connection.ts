import { databasePlace } from "../../../domain/database-url.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { Owner } from "../../../domain/owner.ts";
import { isConflict, isUnreachable, toSvcError } from "./failures.ts";
import type { Database, Sql, SqlValue } from "./sql.ts";
import { fromStored, toStored } from "./text.ts";
import { WriteGroups } from "./write-groups.ts";

export type ConnectionOptions = {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Connections at most. */
  readonly poolSize: number;
  /** Whether statements are prepared once per connection; wrong answers behind a pooler that does not know them. */
  readonly prepare: boolean;
  /** Milliseconds that a statement may take. */
  readonly statementTimeoutMs: number;
  /** Whether the server refuses to write anything. Default false. */
  readonly isReadOnly?: boolean | undefined;
};

/** Tries of a transaction that conflicts with others, and of a read that lost its connection. */
const TRIES = 5;
const READ_TRIES = 3;

/** Opens the connections that its calls need; none before the first. */
export function openConnection(options: ConnectionOptions): Database {
  const client = createClient(options);
  const place = databasePlace(options.url);
  let closing: Promise<void> | undefined;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new SvcError("engine_closed", "the database was closed");
    try {
      return await work();
    } catch (error) {
      throw toSvcError(error, place);
    }
  };
  const groups = new WriteGroups((work) =>
    again(() => client.begin((transaction) => work(sqlOn(transaction))), isConflict, TRIES),
  );
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
  return {
    read: (_owner: Owner, work) =>
      counted(() => again(() => work(sqlOn(client)), isUnreachable, READ_TRIES)),
    snapshot: (_owner: Owner, work) =>
      counted(() =>
        again(
          () => client.begin(SNAPSHOT, (transaction) => work(sqlOn(transaction))),
          (error) => isUnreachable(error) || isConflict(error),
          READ_TRIES,
        ),
      ),
    write: write("known"),
    writeNew: write("new"),
    writeAny: (work) =>
      counted(() =>
        again(() => client.begin((transaction) => work(sqlOn(transaction))), isConflict, TRIES),
      ),
    close: () => {
      closing ??= Promise.all(pending).then(() => client.close());
      return closing;
    },
  };
}

const SNAPSHOT = "isolation level repeatable read read only";

function createClient(options: ConnectionOptions): Bun.SQL {
  const { url, poolSize, prepare, statementTimeoutMs, isReadOnly = false } = options;
  return new Bun.SQL({
    url,
    adapter: "postgres",
    max: poolSize,
    prepare,
    // Seconds; a connection stays open while the program runs.
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: 10,
    connection: {
      application_name: "svc",
      // Compiling a statement takes longer than any of ours.
      jit: "off",
      TimeZone: "UTC",
      statement_timeout: String(statementTimeoutMs),
      default_transaction_read_only: isReadOnly ? "on" : "off",
    },
  });
}

/** Runs work until it passes, at most so many times, with pauses that grow and differ. */
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

/** Statements on a pool or a transaction. */
function sqlOn(runner: Pick<Bun.SQL, "unsafe">): Sql {
  const ask = (text: string, values: readonly SqlValue[]) =>
    runner.unsafe(
      text,
      values.map((value) => (typeof value === "string" ? toStored(value) : value)),
    );
  return {
    all: async (text, ...values) => [...(await ask(text, values))].map(decoded),
    get: async (text, ...values) => {
      const [row] = await ask(text, values);
      return row === undefined ? undefined : decoded(row);
    },
    run: async (text, ...values) => (await ask(text, values)).count,
  };
}

/** A row with its texts as they were given. */
function decoded<Row extends Record<string, unknown>>(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    const text = typeof value === "string" ? fromStored(value) : value;
    if (text !== value) Object.assign(row, { [name]: text });
  }
  return row;
}
