import type { Database } from "bun:sqlite";
import { isBusy } from "./failures.ts";

/** Milliseconds for the previously closing process to end. */
const CLOSING_PAUSE_MS = 3;
/** How often a closing process requests its turn. */
const CLOSING_TRIES = 50;

/**
 * Processes that close at the same instant each see the other, so that neither checkpoints the log. The write lock makes them close one
 * after the other; a moment later the previous one is gone.
 */
export async function waitForTurn(writer: Database): Promise<void> {
  try {
    await patientlyBegin(writer);
    await Bun.sleep(CLOSING_PAUSE_MS);
    writer.run("ROLLBACK");
  } catch {
    // Another process writes for too long, or the disk is full: the next process will clean up the log.
  }
}

/** Takes the write lock, without blocking the event loop for long. @throws SQLiteError */
async function patientlyBegin(writer: Database): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      writer.run("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (!isBusy(error) || tries === CLOSING_TRIES) throw error;
      await Bun.sleep(1 + Math.random() * 5);
    }
  }
}
