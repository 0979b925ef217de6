import { codeOf, isLost, NoAnswer, PoolBusy } from "./failures.ts";

export type PoolOptions = {
  /** Milliseconds after which the server cancels a statement. */
  readonly limitMs: number;
  /** Connections at most. */
  readonly size: number;
};

/** A value for the driver. */
export type Bound = string | number | boolean | null | Uint8Array;

/** Rows, with `count`, the number written, and `command`, the server's command tag. */
type Answer<Row> = Awaited<ReturnType<typeof Bun.sql.unsafe<Row[]>>>;

/** Milliseconds in which a server must accept a connection. */
export const CONNECT_LIMIT_MS = 10_000;
/** Milliseconds allowed for an answer after the server has cancelled a statement. */
const ON_THE_WAY_MS = 1000;
/** Milliseconds for which calls fail at once after a timeout; then one call finds out whether the server is back. */
const PAUSE_MS = 1000;

/**
 * Lends the connections of a driver, and drops those that no longer answer. If a server answers on no connection, not every call waits for
 * it: while one of them tries, the others fail at once.
 */
export class Pool {
  readonly #connect: () => Bun.SQL;
  /** Of the client, which must exceed the server's. */
  readonly #limitMs: number;
  readonly #size: number;
  #client: Bun.SQL;
  /** When the server last sent anything. */
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Until when calls fail at once; 0 while the server answers. */
  #closedUntil = 0;
  #silentSince = 0;

  constructor(connect: () => Bun.SQL, options: PoolOptions) {
    this.#connect = connect;
    this.#limitMs = options.limitMs + ON_THE_WAY_MS;
    this.#size = options.size;
    this.#client = connect();
  }

  /** Runs work with its own connection. @throws NoAnswer, PoolBusy; PostgresError; and what the work throws */
  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await this.#lend(work);
    } catch (error) {
      // The connection was dropped with all others.
      if (this.#closedUntil > 0 && isLost(error)) throw this.#noAnswer();
      throw error;
    }
  }

  /** Waits for nothing. */
  async close(): Promise<void> {
    await this.#client.close({ timeout: 0 });
  }

  async #lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const reserved = await this.#take();
    const connection = new Connection(reserved, this.#limitMs, {
      heard: () => this.#heard(),
      silent: (since) => this.#silent(since),
    });
    try {
      return await work(connection);
    } finally {
      // A lost connection cannot be returned, which the pool knows.
      await reserved.release().catch(() => undefined);
    }
  }

  async #take(): Promise<Bun.ReservedSQL> {
    const now = performance.now();
    if (this.#closedUntil > now) throw this.#noAnswer();
    const isTrial = this.#closedUntil > 0;
    if (isTrial) this.#closedUntil = now + CONNECT_LIMIT_MS;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), this.#limitMs);
    try {
      const reserved = await this.#client.reserve({ signal: waiting.signal });
      if (isTrial) this.#heard();
      return reserved;
    } catch (error) {
      const isLate = waiting.signal.aborted;
      if (isLate && this.#heardAt >= now) throw new PoolBusy(this.#size);
      if (isLate || codeOf(error) === NOT_TAKEN) {
        this.#silent(now);
        throw new NoAnswer(performance.now() - now);
      }
      if (isTrial) this.#closedUntil = 0;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #noAnswer(): NoAnswer {
    return new NoAnswer(performance.now() - this.#silentSince);
  }

  #heard(): void {
    this.#heardAt = performance.now();
    this.#closedUntil = 0;
  }

  /** A connection has been silent since a moment; if all have, all are dropped. */
  #silent(since: number): void {
    if (this.#heardAt >= since) return;
    if (this.#closedUntil === 0) this.#silentSince = since;
    this.#closedUntil = performance.now() + PAUSE_MS;
    const given = this.#client;
    this.#client = this.#connect();
    given.close({ timeout: 0 }).catch(() => undefined);
  }
}

/** The driver's message if the server did not accept a connection in time. */
const NOT_TAKEN = "ERR_POSTGRES_CONNECTION_TIMEOUT";

/** A lent connection. It is dropped if it is silent for too long while statements await an answer. */
export class Connection {
  readonly #reserved: Bun.ReservedSQL;
  readonly #limitMs: number;
  readonly #tell: { readonly heard: () => void; readonly silent: (since: number) => void };
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: NoAnswer | undefined;

  constructor(
    reserved: Bun.ReservedSQL,
    limitMs: number,
    tell: { readonly heard: () => void; readonly silent: (since: number) => void },
  ) {
    this.#reserved = reserved;
    this.#limitMs = limitMs;
    this.#tell = tell;
  }

  /** Statements of one connection run in call order. @throws NoAnswer, PostgresError */
  async ask<Row>(text: string, values: readonly Bound[] = []): Promise<Answer<Row>> {
    this.#waiting += 1;
    if (this.#waiting === 1) this.#wait();
    try {
      const answer = await this.#reserved.unsafe<Row[]>(text, [...values]);
      this.#tell.heard();
      return answer;
    } catch (error) {
      if (this.#silence !== undefined) throw this.#silence;
      if (isOfServer(error)) this.#tell.heard();
      throw error;
    } finally {
      this.#waiting -= 1;
      this.#wait();
    }
  }

  /** Drops the connection; what runs on it is rolled back. */
  async drop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#reserved.close({ timeout: 0 }).catch(() => undefined);
  }

  /** Restarts the time limit for the next answer. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#waiting === 0) return;
    const since = performance.now();
    this.#timer = setTimeout(() => {
      this.#silence = new NoAnswer(this.#limitMs);
      this.#tell.silent(since);
      void this.drop();
    }, this.#limitMs);
  }
}

/** Whether the server itself reported a failure; its codes have five characters. */
function isOfServer(error: unknown): boolean {
  return codeOf(error)?.length === 5;
}
