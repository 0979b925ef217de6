/** Takes the key of an open pack away and gives it back, behind the back of those who hold the store. */
export type PackLock = {
  /**
   * Finishes queued writes, closes the files and forgets the key; every call of the store but `close` then fails with
   * pack_locked. Locking what is locked does nothing. @throws SvcError unsupported for all but encrypted directory packs
   */
  lock(): Promise<void>;
  /** Opens the files again; does nothing when they are open. @throws SvcError unsupported, and what opening throws */
  unlock(key: string): Promise<void>;
};
