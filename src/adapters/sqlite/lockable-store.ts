import { SvcError } from "../../domain/errors.ts";
import type { Store } from "../../ports/store/store.ts";
import type { PackLayout } from "./connection/layout.ts";

/**
 * A store that can be closed and opened again behind the back of those who hold it. Its pages are never unencrypted on the
 * disk, so that locking it is to close its files and to forget the key.
 * @param path names the pack in errors.
 * @param open opens the pack again; a failure leaves the store locked.
 */
export function lockableStore(
  path: string,
  first: Store,
  open: (key: string) => Promise<Store>,
): Store {
  let current: Store | undefined = first;
  let isClosed = false;
  let turn: Promise<void> = Promise.resolve();
  /** One change after the other. */
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    const done = turn.then(change);
    turn = done.catch(() => {});
    return done;
  };
  const changes = {
    lock: () =>
      inTurn(async () => {
        const store = current;
        current = undefined;
        await store?.close();
      }),
    unlock: (key: string) =>
      inTurn(async () => {
        if (isClosed) throw new SvcError("engine_closed", "the pack was closed");
        current ??= await open(key);
      }),
    close: () => {
      isClosed = true;
      return inTurn(async () => await current?.close());
    },
  };
  return new Proxy(first, {
    get: (_, name) => {
      if (Object.hasOwn(changes, name)) return Reflect.get(changes, name);
      if (current === undefined) throw locked(path);
      const member: unknown = Reflect.get(current, name);
      return typeof member === "function" ? member.bind(current) : member;
    },
  });
}

/** Why a pack of this kind cannot be locked. */
export function notLockable(layout: PackLayout, path: string): SvcError {
  const reason =
    layout.kind === "file"
      ? "is a single file; only encrypted directory packs are locked and unlocked. Close the engine instead"
      : "is not encrypted, so there is no key to forget. Encrypt it with: svc rekey --encrypt";
  return new SvcError("unsupported", `${path}: ${reason}`, { path });
}

function locked(path: string): SvcError {
  return new SvcError("pack_locked", `${path}: is locked; unlock it with its key`, { path });
}
