import { SvcError } from "../../domain/errors.ts";
import type { Namespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Uuid } from "../../lib/uuid.ts";

type Slot = {
  readonly name: string;
  readonly opening: Promise<MemoryEngine>;
  holders: number;
  /** Position in the order of releases. */
  idleSince: number;
  closing: Promise<void> | undefined;
};

/** A call that waits for an engine. */
type Ticket = {
  readonly since: number;
  /** Milliseconds after which it may share an open engine although others have waited longer. */
  readonly patienceMs: number;
};

const PATIENCE_MS = 1000;

/** Open engines, up to a limit: the least recently released one makes room for another. */
export class EngineCache {
  readonly #max: number;
  readonly #slots = new Map<Uuid, Slot>();
  /** Calls of `take` without an engine yet, in order of arrival. */
  readonly #queue: Ticket[] = [];
  readonly #waiting = new Set<() => void>();
  #releases = 0;
  /** Why no more engines are given out. */
  #refusal: SvcError | undefined;
  readonly #waitMs: number;
  /** Running calls, and when the last one began or ended. */
  #calls = 0;
  #lastUse = 0;

  /** @param max at least 1 @param waitMs milliseconds without any use of held engines, after which waiting calls are rejected */
  constructor(max: number, waitMs: number) {
    this.#max = max;
    this.#waitMs = waitMs;
  }

  /** Records the start of a call. @returns a function to call at its end */
  use(): () => void {
    this.#calls += 1;
    return () => {
      this.#calls -= 1;
      this.#lastUse = performance.now();
    };
  }

  /** Milliseconds that a call waiting since then will still wait. The holder may itself be the one who waits. */
  #quietLeft(since: number): number {
    if (this.#calls > 0) return this.#waitMs;
    return Math.max(since, this.#lastUse) + this.#waitMs - performance.now();
  }

  #held(): readonly string[] {
    return [...this.#slots.values()].flatMap(({ name, holders }) => (holders > 0 ? [name] : []));
  }

  /**
   * An engine that stays open until it is given back as often as it was taken. Waits in call order while all are in use: otherwise one in
   * constant use would starve others. A holder may need the same engine again to finish, so a call shares an open engine once it has waited
   * as long as the first one had when it arrived.
   * @throws SvcError workspace_full once what is held is idle; workspace_closed after `close`, or after an engine could not be closed; and
   * what `open` throws
   */
  async take({ id, name }: Namespace, open: () => Promise<MemoryEngine>): Promise<MemoryEngine> {
    const ticket = this.#join();
    try {
      for (;;) {
        if (this.#refusal !== undefined) throw this.#refusal;
        const engine = this.#find(id, ticket, () => this.#add(id, name, open));
        if (engine !== undefined) return engine;
        const isFull = !this.#slots.has(id) && this.#held().length === this.#max;
        if (isFull && this.#quietLeft(ticket.since) <= 0) throw full(this.#held());
        await this.#wait(id, ticket);
      }
    } finally {
      this.#leave(ticket);
    }
  }

  /** Undefined: it is not this call's turn, or there is no room. */
  #find(id: Uuid, ticket: Ticket, add: () => Slot) {
    const slot = this.#slots.get(id);
    if (slot !== undefined) {
      const isTurn = slot.closing === undefined && this.#leftMs(ticket) <= 0;
      return isTurn ? this.#hold(id, slot) : undefined;
    }
    const isTurn = this.#queue[0] === ticket && this.#slots.size < this.#max;
    return isTurn ? this.#hold(id, add()) : undefined;
  }

  async #wait(id: Uuid, ticket: Ticket): Promise<void> {
    const slot = this.#slots.get(id);
    if (slot?.closing !== undefined) await slot.closing.catch(() => undefined);
    else if (slot !== undefined) await this.#change(this.#leftMs(ticket));
    else if (this.#queue[0] !== ticket || !(await this.#evictIdle())) {
      await this.#change(Math.max(this.#quietLeft(ticket.since), 1));
    }
  }

  /** Milliseconds until a call may share an open engine. */
  #leftMs(ticket: Ticket): number {
    if (this.#queue[0] === ticket) return 0;
    return ticket.since + ticket.patienceMs - performance.now();
  }

  #join(): Ticket {
    const since = performance.now();
    const first = this.#queue[0]?.since ?? since;
    const ticket = { since, patienceMs: Math.max(PATIENCE_MS, since - first) };
    this.#queue.push(ticket);
    return ticket;
  }

  #leave(ticket: Ticket): void {
    this.#queue.splice(this.#queue.indexOf(ticket), 1);
    this.#wake();
  }

  giveBack(id: Uuid): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    slot.holders -= 1;
    this.#lastUse = performance.now();
    if (slot.holders > 0) return;
    this.#releases += 1;
    slot.idleSince = this.#releases;
    this.#wake();
  }

  /** Rejects waiting calls, and waits until all are given back. @throws SvcError workspace_full; all is then as before */
  async #end(): Promise<void> {
    const former = this.#refusal;
    this.#refusal ??= new SvcError("workspace_closed", "the workspace was closed");
    this.#wake();
    const since = performance.now();
    while (this.#held().length > 0) {
      const left = this.#quietLeft(since);
      if (left <= 0) {
        this.#refusal = former;
        throw full(this.#held());
      }
      await this.#change(left);
    }
  }

  /**
   * Rejects waiting calls, waits until all are given back, then closes them.
   * @throws SvcError workspace_full once held engines are idle: nothing is closed; AggregateError of their closing errors
   */
  async close(): Promise<void> {
    const failures: unknown[] = this.#refusal === undefined ? [] : [this.#refusal.cause];
    await this.#end();
    const closed = await Promise.allSettled(
      [...this.#slots].map(([id, slot]) => this.#closeSlot(id, slot)),
    );
    failures.push(...closed.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])));
    if (failures.length > 0) throw new AggregateError(failures, "not every namespace was closed");
  }

  #add(id: Uuid, name: string, open: () => Promise<MemoryEngine>): Slot {
    const slot: Slot = { name, opening: open(), holders: 0, idleSince: 0, closing: undefined };
    this.#slots.set(id, slot);
    return slot;
  }

  async #hold(id: Uuid, slot: Slot): Promise<MemoryEngine> {
    slot.holders += 1;
    const end = this.use();
    try {
      return await slot.opening;
    } catch (error) {
      // The next call tries to open it again.
      if (this.#slots.get(id) === slot) this.#slots.delete(id);
      this.#wake();
      throw error;
    } finally {
      end();
    }
  }

  /** @returns false if all are in use */
  async #evictIdle(): Promise<boolean> {
    const idle = [...this.#slots].filter(
      ([, { holders, closing }]) => holders === 0 && closing === undefined,
    );
    const oldest = idle.sort(([, a], [, b]) => a.idleSince - b.idleSince)[0];
    if (oldest === undefined) return false;
    try {
      await this.#closeSlot(...oldest);
    } catch (error) {
      this.#refusal = notClosed(error);
    }
    return true;
  }

  #closeSlot(id: Uuid, slot: Slot): Promise<void> {
    slot.closing ??= slot.opening
      .then((engine) => engine.close())
      .finally(() => {
        this.#slots.delete(id);
        this.#wake();
      });
    return slot.closing;
  }

  /** @param limitMs after which it resolves without a change */
  #change(limitMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limitMs === undefined ? undefined : setTimeout(() => wake(), limitMs);
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function full(namespaces: readonly string[]): SvcError {
  const names = namespaces.map((name) => JSON.stringify(name)).join(", ");
  const message = `held, and used by nobody: ${names}; release one of them, or let more be open (maxOpen)`;
  return new SvcError("workspace_full", message, { namespaces });
}

function notClosed(cause: unknown): SvcError {
  const message = "a namespace could not be closed; close the workspace and open it again";
  return new SvcError("workspace_closed", message, {}, { cause });
}
