/** Numbers, of which the smallest comes out first. */
export type LeastFirst = {
  readonly push: (value: number) => void;
  /** Removes and returns the smallest number; absent if there is none. */
  readonly pop: () => number | undefined;
};

/** A binary heap. @param room numbers that it holds before it grows */
export function createLeastFirst(room: number): LeastFirst {
  let items = new Float64Array(room);
  let size = 0;
  return {
    push: (value) => {
      if (size === items.length) items = enlarged(items);
      let at = size;
      size += 1;
      while (at > 0) {
        const up = (at - 1) >> 1;
        const above = items[up] ?? 0;
        if (above <= value) break;
        items[at] = above;
        at = up;
      }
      items[at] = value;
    },
    pop: () => {
      if (size === 0) return undefined;
      const least = items[0];
      size -= 1;
      const last = items[size] ?? 0;
      let at = 0;
      for (let child = 1; child < size; child = at * 2 + 1) {
        if (child + 1 < size && (items[child + 1] ?? 0) < (items[child] ?? 0)) child += 1;
        const below = items[child] ?? 0;
        if (below >= last) break;
        items[at] = below;
        at = child;
      }
      items[at] = last;
      return least;
    },
  };
}

function enlarged(items: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(items.length + (items.length >> 1) + 1);
  larger.set(items);
  return larger;
}
