import type { Owner } from "../../../domain/owner.ts";
import { isUnnamed } from "./failures.ts";
import { visible } from "./row-security.ts";

/** Whose rows the transactions of a pool ask to see. Once the server says that row-level security is on, they name their owners. */
export class Sight {
  #isWalled: boolean;

  constructor(isWalled = false) {
    this.#isWalled = isWalled;
  }

  /** What `SEE` is given; undefined where the server hides nothing. */
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
