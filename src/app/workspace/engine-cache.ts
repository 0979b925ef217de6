import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Uuid } from "../../lib/uuid.ts";

type Slot = {
  readonly opening: Promise<MemoryEngine>;
  holders: number;
  /** Place in the order of releases. */
  idleSince: number;
  closing: Promise<void> | undefined;
};

/** Engines that are open, at most so many: the one that was released longest ago makes room for another. */
export class EngineCache {
  readonly #max: number;
  readonly #slots = new Map<Uuid, Slot>();
  readonly #waiting: (() => void)[] = [];
  #releases = 0;
  /** Why nothing is given any more. */
  #refusal: SvcError | undefined;

  /** @param max at least 1 */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * An engine that stays open until it is given back as often as it was taken. Waits while all are in use.
   * @throws SvcError workspace_closed after `close`, or after an engine could not be closed; and what `open` throws
   */
  async take(id: Uuid, open: () => Promise<MemoryEngine>): Promise<MemoryEngine> {
    for (;;) {
      if (this.#refusal !== undefined) throw this.#refusal;
      const slot = this.#slots.get(id);
      if (slot !== undefined && slot.closing === undefined) return await this.#hold(id, slot);
      if (slot !== undefined) await slot.closing?.catch(() => undefined);
      else if (this.#slots.size < this.#max) return await this.#hold(id, this.#add(id, open));
      else if (!(await this.#evictIdle())) await this.#change();
    }
  }

  giveBack(id: Uuid): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    slot.holders -= 1;
    if (slot.holders > 0) return;
    this.#releases += 1;
    slot.idleSince = this.#releases;
    this.#wake();
  }

  /** Refuses those who wait, waits until all are given back, then closes them. @throws AggregateError of what their closing threw */
  async close(): Promise<void> {
    const failures: unknown[] = this.#refusal === undefined ? [] : [this.#refusal.cause];
    this.#refusal ??= new SvcError("workspace_closed", "the workspace was closed");
    this.#wake();
    while ([...this.#slots.values()].some(({ holders }) => holders > 0)) await this.#change();
    const closed = await Promise.allSettled(
      [...this.#slots].map(([id, slot]) => this.#closeSlot(id, slot)),
    );
    failures.push(...closed.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])));
    if (failures.length > 0) throw new AggregateError(failures, "not every namespace was closed");
  }

  #add(id: Uuid, open: () => Promise<MemoryEngine>): Slot {
    const slot: Slot = { opening: open(), holders: 0, idleSince: 0, closing: undefined };
    this.#slots.set(id, slot);
    return slot;
  }

  async #hold(id: Uuid, slot: Slot): Promise<MemoryEngine> {
    slot.holders += 1;
    try {
      return await slot.opening;
    } catch (error) {
      // Whoever asks next tries to open it again.
      if (this.#slots.get(id) === slot) this.#slots.delete(id);
      this.#wake();
      throw error;
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

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function notClosed(cause: unknown): SvcError {
  const message = "a namespace could not be closed; close the workspace and open it again";
  return new SvcError("workspace_closed", message, {}, { cause });
}
