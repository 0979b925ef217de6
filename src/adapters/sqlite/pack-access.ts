import type { Database } from "bun:sqlite";
import { SvcError } from "../../domain/errors.ts";
import type { PackLock } from "../../ports/store/store.ts";
import { isBusy, toSvcError } from "./connection/failures.ts";
import type { PackLayout } from "./connection/layout.ts";
import { HeldNodes } from "./read/held-nodes.ts";
import { remakeCodes } from "./vectors/codes.ts";
import { ResidentVectors, type VectorLimits } from "./vectors/resident.ts";
import { type LogKeeper, waitForTurn } from "./write/log-keeper.ts";
import type { WriteQueue } from "./write/write-queue.ts";

/** The open files of a pack. `write` runs its work in its own transaction. */
export type PackAccess = PackLock & {
  /** The vectors in memory belong to these files, and are dropped with them. */
  readonly read: <T>(work: (database: Database, resident: ResidentVectors) => T) => Promise<T>;
  readonly write: <T>(work: (database: Database) => T, isAlone?: boolean) => Promise<T>;
  /** Memories in memory, dropped with the files and before a purge. Undefined: nothing is written here. */
  readonly held: () => HeldNodes | undefined;
  /**
   * Rewrites all pages, then checkpoints and empties the log; writes wait meanwhile. Waits for other processes.
   * @param mark changes something in a transaction before, so that the pack records the coming state of the log
   * @returns false if they did not finish in time: the pages may then not be written, and the log may be full
   */
  readonly purge: (mark: (database: Database) => void, waitMs: number) => Promise<boolean>;
  /** Finishes queued writes, then closes. Later calls reject with engine_closed. Idempotent. */
  readonly close: () => Promise<void>;
};

export type PackFiles = {
  readonly writer: Database;
  readonly reader: Database;
  readonly queue: WriteQueue;
  readonly log: LogKeeper;
  readonly path: string;
  readonly layout: PackLayout;
  /** Rewrites all pages. @returns false if another process writes. Absent: nothing writes here */
  readonly rewrite?: (() => Promise<boolean>) | undefined;
  /** Called once the connections are closed. */
  readonly onClosed?: (() => void) | undefined;
  /** If given, the only connection is a reading one, closed by this. */
  readonly reading?: { close(): void } | undefined;
};

/** Files that are open or permanently closed: writes go through the queue, reads as `readOn` says. */
export function accessTo(files: PackFiles, limits?: VectorLimits): PackAccess {
  const { writer, queue, path } = files;
  // In the background: the question that noticed it makes codes of its own. A pack that is only read refuses.
  const resident = new ResidentVectors(limits, (owner) => {
    queue.run(() => remakeCodes(writer, owner)).catch(() => {});
  });
  const held = files.reading === undefined ? new HeldNodes(writer) : undefined;
  let closing: Promise<void> | undefined;
  const refuse = async () => {
    throw notLockable(files);
  };
  return {
    read: async (work) => {
      if (closing !== undefined) throw new SvcError("engine_closed", "the pack was closed");
      try {
        return readOn(files, (database) => work(database, resident));
      } catch (error) {
        throw toSvcError(error, path);
      }
    },
    write: (work, isAlone) => queue.run(() => work(writer), isAlone),
    held: () => (closing === undefined ? held : undefined),
    purge: (mark, waitMs) => {
      held?.clear();
      return purge(files, mark, { waitMs, isClosed: () => closing !== undefined });
    },
    close: () => {
      held?.clear();
      closing ??= closeFiles(files, resident);
      return closing;
    },
    lock: refuse,
    unlock: refuse,
  };
}

/**
 * Reads on the writing connection while it is free: a reading one drops all pages that it holds, and its mapping of the file, with each
 * commit of another connection, such as the receipt of each question.
 */
function readOn<T>({ writer, reader }: PackFiles, work: (database: Database) => T): T {
  if (writer.inTransaction) return work(reader);
  try {
    return work(writer);
  } catch (error) {
    // It waits for others too briefly to be read on in any case.
    if (!isBusy(error)) throw error;
    return work(reader);
  }
}

/** Milliseconds between two tries. */
const PURGE_PAUSE_MS = 50;

async function purge(
  { queue, log, writer, path, rewrite = async () => false }: PackFiles,
  mark: (database: Database) => void,
  { waitMs, isClosed }: { readonly waitMs: number; readonly isClosed: () => boolean },
): Promise<boolean> {
  const end = performance.now() + waitMs;
  for (let isDone = false; ; ) {
    if (isClosed()) return false;
    if (!isDone) await queue.run(() => mark(writer));
    const isEmpty = await queue.apart(async () => {
      isDone ||= await isRewritten(rewrite, path);
      return isDone && log.empty();
    });
    if (isEmpty) return true;
    if (performance.now() >= end) return false;
    await Bun.sleep(PURGE_PAUSE_MS);
  }
}

/** @returns false if another process writes; @throws SvcError for every other failure */
async function isRewritten(rewrite: () => Promise<boolean>, path: string): Promise<boolean> {
  try {
    return await rewrite();
  } catch (error) {
    if (isBusy(error)) return false;
    throw toSvcError(error, path);
  }
}

async function closeFiles(files: PackFiles, resident: ResidentVectors): Promise<void> {
  const { queue, log, reader, writer, onClosed, reading } = files;
  await queue.close();
  resident.clear();
  if (reading !== undefined) return reading.close();
  reader.close();
  await waitForTurn(writer);
  await log.close();
  // The last connection to close checkpoints the pack and removes the log.
  writer.close();
  onClosed?.();
}

/**
 * Files that can be closed and opened again. Their pages are never unencrypted on disk, so locking a pack means closing its files
 * and forgetting the key.
 * @param path names the pack in errors.
 * @param open opens the pack again; a failure leaves it locked.
 */
export function lockable(
  path: string,
  first: PackAccess,
  open: (key: string) => Promise<PackAccess>,
): PackAccess {
  let current: PackAccess | undefined = first;
  let isClosed = false;
  let turn: Promise<void> = Promise.resolve();
  /** One change after the other. */
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    const done = turn.then(change);
    turn = done.catch(() => {});
    return done;
  };
  const files = (): PackAccess => {
    if (current !== undefined) return current;
    throw new SvcError("pack_locked", `${path}: is locked; unlock it with its key`, { path });
  };
  return {
    read: async (work) => files().read(work),
    write: async (work, isAlone) => files().write(work, isAlone),
    held: () => current?.held(),
    purge: async (mark, waitMs) => files().purge(mark, waitMs),
    lock: () =>
      inTurn(async () => {
        const access = current;
        current = undefined;
        await access?.close();
      }),
    unlock: (key) =>
      inTurn(async () => {
        if (isClosed) throw new SvcError("engine_closed", "the pack was closed");
        current ??= await open(key);
      }),
    close: () => {
      isClosed = true;
      return inTurn(async () => await current?.close());
    },
  };
}

/** Why this kind of pack cannot be locked. */
function notLockable({ layout, path }: PackFiles): SvcError {
  const reason =
    layout.kind === "file"
      ? "is a single file; only encrypted directory packs are locked and unlocked. Close the engine instead"
      : "is not encrypted, so there is no key to forget. Encrypt it with: svc rekey --encrypt";
  return new SvcError("unsupported", `${path}: ${reason}`, { path });
}
