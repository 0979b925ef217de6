import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { checkpoint } from "../connection/ask.ts";
import { waitForTurn } from "../connection/closing.ts";
import type { WholePack } from "../connection/exclusive.ts";
import { isBusy, requirePack } from "../connection/failures.ts";
import { filesOf, mainPath, schemasOf } from "../connection/layout.ts";
import { openDatabase } from "../connection/open-database.ts";
import { isWritable, readingMode } from "../connection/open-reading.ts";
import type { OpenMode } from "../connection/pack-files.ts";
import { requireReadable } from "../schema/migrate.ts";

/** A pack whose files are complete and do not change. Others continue to read and write; their writes stay in its log. */
export type Pinned = {
  /** Reads the pack as it is in the files. */
  readonly database: Database;
  /** Lets the files change again. Never throws. */
  release(): Promise<void>;
};

/** Milliseconds that one statement waits for a writer; writers wait equally long for the checkpoint. */
const BUSY_TIMEOUT_MS = 2000;
/** Milliseconds to wait for others that block the checkpoint: a long read, another copy. */
const PATIENCE_MS = 60_000;

/**
 * Checkpoints a pack and starts reading: as long as this read lasts, SQLite does not change the files. A read-only pack must already be
 * checkpointed.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, pack_in_use; SQLiteError from SQLite itself
 */
export async function pinPack(options: WholePack): Promise<Pinned> {
  const { layout } = options;
  requirePack(mainPath(layout), "nothing was changed");
  const mode = filesOf(layout).every(isWritable) ? "read-write" : readingMode(layout);
  const reader = open(options, mode);
  try {
    if (mode === "immutable") {
      begin(reader, options);
      return { database: reader, release: async () => reader.close() };
    }
    const helper = open(options, mode);
    try {
      await pin(reader, helper, mode, options);
      const release = async (): Promise<void> => {
        reader.close();
        if (mode === "read-write") await waitForTurn(helper);
        helper.close();
      };
      return { database: reader, release };
    } catch (error) {
      helper.close();
      throw error;
    }
  } catch (error) {
    reader.close();
    throw error;
  }
}

function open(
  { layout, cipher, vecExtensionPath, namespace }: WholePack,
  mode: OpenMode,
): Database {
  const database = openDatabase({
    layout,
    mode,
    synchronous: "full",
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    vecExtensionPath,
    cipher,
    namespace,
  });
  try {
    requireReadable(database, layout);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function pin(
  reader: Database,
  helper: Database,
  mode: OpenMode,
  options: WholePack,
): Promise<void> {
  const tryPin = mode === "read-write" ? pinBetweenWrites : pinWhereWhole;
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    if (tryPin(reader, helper, options)) return;
    if (performance.now() > end) throw neverWhole(mainPath(options.layout), mode);
    await Bun.sleep(50);
  }
}

/** Keeps others from writing during the checkpoint and until the read begins. */
function pinBetweenWrites(reader: Database, helper: Database, options: WholePack): boolean {
  try {
    helper.run("BEGIN IMMEDIATE");
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
  try {
    if (!isLogMoved(reader, "PASSIVE", options)) return false;
    begin(reader, options);
    return true;
  } finally {
    helper.run("ROLLBACK");
  }
}

/** While `reader` reads, nothing newer is checkpointed: a fully checkpointed log contains nothing newer. */
function pinWhereWhole(reader: Database, helper: Database, options: WholePack): boolean {
  begin(reader, options);
  if (isLogMoved(helper, "NOOP", options)) return true;
  reader.run("ROLLBACK");
  return false;
}

function isLogMoved(database: Database, how: "PASSIVE" | "NOOP", { layout }: WholePack): boolean {
  return schemasOf(layout).every((schema) => checkpoint(database, schema, how));
}

/** Starts a read of all files of a pack at once. */
function begin(database: Database, { layout }: WholePack): void {
  database.run("BEGIN");
  for (const schema of schemasOf(layout)) {
    database.query(`SELECT count(*) FROM ${schema}.sqlite_schema`).get();
  }
}

function neverWhole(path: string, mode: OpenMode): SvcError {
  const message =
    mode === "read-write"
      ? `${path}: another process is reading or copying it and does not finish; no copy was made. Try again once it has finished.`
      : `${path}: others write to it, and this user cannot move their log into it; no copy was made. Run this as the user who owns the pack.`;
  return new SvcError("pack_in_use", message, { path });
}
