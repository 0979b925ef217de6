/** The bytes that all request bodies take up together. */
export type BodyRoom = {
  /** Starts a body. @param owner whose share it counts towards; undefined: it has its own share */
  enter(owner: string | undefined): BodySpace;
};

/** The room of one body. */
export type BodySpace = {
  /**
   * Takes room for bytes that have arrived; read more only once there is room.
   * @returns a promise that resolves when there is room; undefined: there is room now
   */
  take(bytes: number): Promise<void> | undefined;
  /** Gives back all of its room. Idempotent; bytes that arrive afterwards take no room. */
  leave(): void;
};

/** What the bodies of one owner take up. */
type Share = { held: number; bodies: number; lastHelped: number };
type Body = { readonly share: Share; held: number };
type Waiter = { readonly body: Body; readonly bytes: number; readonly go: () => void };

/**
 * A share may grow as long as it is no larger than what is left. So an owner who takes all it can leaves half to the others, two
 * leave a third, and there is always room for a newcomer. One body at a time may exceed the room, so that bodies that share it do
 * not wait for each other for ever; owners take turns at that.
 * @param total bytes, without those of the body that may exceed it
 */
export function createBodyRoom(total: number): BodyRoom {
  const shares = new Map<string, Share>();
  const waiting = new Set<Waiter>();
  let free = total;
  let helped: Body | undefined;
  let helps = 0;

  const grow = (body: Body, bytes: number): void => {
    body.held += bytes;
    body.share.held += bytes;
    free -= bytes;
  };
  const fits = (body: Body, bytes: number): boolean =>
    body === helped || body.share.held + bytes <= free - bytes;
  const admit = (): void => {
    for (const waiter of waiting) {
      if (!fits(waiter.body, waiter.bytes)) continue;
      waiting.delete(waiter);
      grow(waiter.body, waiter.bytes);
      waiter.go();
    }
  };
  const help = (): void => {
    const next = helped === undefined ? longestUnhelped(waiting) : undefined;
    if (next === undefined) return;
    helped = next;
    helps += 1;
    next.share.lastHelped = helps;
    admit();
  };
  const enterShare = (owner: string | undefined): Share => {
    const share = (owner !== undefined && shares.get(owner)) || newShare();
    share.bodies += 1;
    if (owner !== undefined) shares.set(owner, share);
    return share;
  };
  const end = (body: Body, owner: string | undefined): void => {
    for (const waiter of waiting) if (waiter.body === body) waiting.delete(waiter);
    free += body.held;
    body.share.held -= body.held;
    body.share.bodies -= 1;
    if (body.share.bodies === 0 && owner !== undefined) shares.delete(owner);
    if (helped === body) helped = undefined;
    admit();
    help();
  };
  return {
    enter: (owner) => {
      const body: Body = { share: enterShare(owner), held: 0 };
      let isOver = false;
      return {
        take: (bytes) => {
          if (isOver) return undefined;
          if (fits(body, bytes)) {
            grow(body, bytes);
            return undefined;
          }
          const { promise, resolve: go } = Promise.withResolvers<void>();
          waiting.add({ body, bytes, go });
          help();
          return promise;
        },
        leave: () => {
          if (isOver) return;
          isOver = true;
          end(body, owner);
        },
      };
    },
  };
}

function newShare(): Share {
  return { held: 0, bodies: 0, lastHelped: 0 };
}

/** Among the waiting bodies, the first of the owner whose last turn is longest ago. */
function longestUnhelped(waiting: Iterable<Waiter>): Body | undefined {
  let found: Body | undefined;
  for (const { body } of waiting) {
    if (found === undefined || body.share.lastHelped < found.share.lastHelped) found = body;
  }
  return found;
}
