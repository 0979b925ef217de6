/** The thread that rewrites all pages of a pack, which takes seconds for a large one. Runs once, and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { SvcError } from "../../../domain/errors.ts";
import { useCacheDir } from "../../native/cache-dir.ts";
import { isBusy, toSvcError } from "../connection/failures.ts";
import { mainPath } from "../connection/layout.ts";
import { openNamed } from "../connection/open-database.ts";
import { emptyLog } from "../write/log-keeper.ts";
import { type RewriteAnswer, type RewriteTask, rewritePages } from "./rewrite-pages.ts";

/** Attempts to empty the log while older snapshots are being read. */
const TRIES = 50;

async function rewrite({ files, connecting }: RewriteTask): Promise<boolean> {
  const database = openNamed(files, connecting);
  try {
    rewritePages(database, connecting.layout);
    // It is as large as the pack. The starter of this thread checks whether it is empty.
    for (let tries = 1; tries < TRIES; tries += 1) {
      if (emptyLog(database, connecting.layout, true)) break;
      await Bun.sleep(10);
    }
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw toSvcError(error, mainPath(connecting.layout));
  } finally {
    database.close();
  }
}

// SAFETY: `rewriteApart` alone starts this thread.
const task = workerData as RewriteTask;
useCacheDir(task.cacheDir);
let answer: RewriteAnswer;
try {
  answer = { isWritten: await rewrite(task) };
} catch (error) {
  answer =
    error instanceof SvcError
      ? { code: error.code, message: error.message }
      : { code: "internal", message: "the pages could not be written" };
}
parentPort?.postMessage(answer);
