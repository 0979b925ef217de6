/** The bytes that request bodies may take up together. */
export type BodyRoom = {
  /**
   * Waits until there is room, in the order of arrival.
   * @returns gives the room back; to be called once
   */
  take(bytes: number): Promise<() => void>;
};

type Waiter = { readonly bytes: number; readonly enter: (leave: () => void) => void };

/** @param total bytes; no single body may be larger */
export function createBodyRoom(total: number): BodyRoom {
  const waiting: Waiter[] = [];
  let free = total;

  const occupy = (bytes: number): (() => void) => {
    free -= bytes;
    return () => {
      free += bytes;
      admit();
    };
  };
  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined && next.bytes <= free; next = waiting[0]) {
      waiting.shift();
      next.enter(occupy(next.bytes));
    }
  };
  return {
    take: (bytes) => {
      if (waiting.length === 0 && bytes <= free) return Promise.resolve(occupy(bytes));
      return new Promise((enter) => waiting.push({ bytes, enter }));
    },
  };
}
