/** Takes away the key of an open pack and gives it back, without the holders of the store noticing. */
export type PackLock = {
  /**
   * Finishes queued writes, closes the files and forgets the key; every call of the store but `close` then fails with
   * pack_locked. Locking a locked pack does nothing. @throws SvcError unsupported for all but encrypted directory packs
   */
  lock(): Promise<void>;
  /** Opens the files again; does nothing if they are open. @throws SvcError unsupported, and what opening throws */
  unlock(key: string): Promise<void>;
};
