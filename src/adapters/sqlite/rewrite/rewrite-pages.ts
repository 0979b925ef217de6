import type { Database } from "bun:sqlite";
import { Worker } from "node:worker_threads";
import { type ErrorCode, SvcError } from "../../../domain/errors.ts";
import { cacheDir } from "../../native/cache-dir.ts";
import { advanceIndexSequence, ask } from "../connection/ask.ts";
import { mainPath, type PackLayout, schemasOf } from "../connection/layout.ts";
import { type Connecting, type DatabaseOptions, holdNames } from "../connection/open-database.ts";
import type { NamedFile } from "../connection/pack-files.ts";
import { workerUrl } from "./worker-url.ts";

/** Bytes of a pack up to which rewriting its pages takes less time than starting a thread. */
const THREAD_FROM = 2 ** 23;

/** The thread's input. The names contain no key. */
export type RewriteTask = {
  readonly cacheDir: string;
  readonly files: readonly NamedFile[];
  readonly connecting: Connecting;
};

/** Its answer: whether everything was written, or why not. */
export type RewriteAnswer =
  | { readonly isWritten: boolean }
  | { readonly code: ErrorCode; readonly message: string };

/** Rewrites the pages of an open pack, in a thread if it is large. */
export type Rewriter = { rewrite(): Promise<boolean>; close(): void };

/** @param threadFrom bytes of a pack from which a thread is used. Default 8 MiB */
export function createRewriter(
  writer: Database,
  connection: DatabaseOptions,
  threadFrom = THREAD_FROM,
): Rewriter {
  const { files, connecting, release } = holdNames(connection);
  return {
    rewrite: async () => {
      if (sizeOf(writer, connecting.layout) >= threadFrom) {
        return await rewriteApart({ cacheDir: cacheDir(), files, connecting });
      }
      rewritePages(writer, connecting.layout);
      return true;
    },
    close: release,
  };
}

function sizeOf(database: Database, layout: PackLayout): number {
  const sizes = schemasOf(layout).map(
    (schema) =>
      (ask<number>(database, `PRAGMA ${schema}.page_count`) ?? 0) *
      (ask<number>(database, `PRAGMA ${schema}.page_size`) ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Merges the segments of the text index, then rewrites all pages: they still contain parts of rows that moved long ago. Runs outside of
 * transactions.
 * @throws SQLiteError
 */
export function rewritePages(database: Database, layout: PackLayout): void {
  database.run("BEGIN IMMEDIATE");
  try {
    erasing(database, () => {
      // A removed document is only marked in the segment with its words until the segments are merged.
      database.run("INSERT INTO lexical_documents (lexical_documents) VALUES ('optimize')");
      advanceIndexSequence(database);
    });
    database.run("COMMIT");
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
  for (const schema of schemasOf(layout)) database.run(`VACUUM ${schema}`);
}

function rewriteApart(task: RewriteTask): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const path = mainPath(task.connecting.layout);
    const failed = (code: ErrorCode, message: string, cause?: unknown): void =>
      reject(new SvcError(code, message, { path }, { cause }));
    const worker = new Worker(workerUrl(), { workerData: task });
    worker.once("message", (answer: RewriteAnswer) => {
      if ("code" in answer) failed(answer.code, answer.message);
      else resolve(answer.isWritten);
    });
    worker.once("error", (cause) => failed("internal", "the thread for pages crashed", cause));
    worker.once("exit", () => failed("internal", "the thread for pages ended unexpectedly"));
  });
}

/** Runs work in which SQLite overwrites deleted data with zeros. */
export function erasing<T>(database: Database, work: () => T): T {
  const schemas = database.query<{ name: string }, []>("PRAGMA database_list").all();
  const turn = (mode: "ON" | "OFF"): void => {
    for (const { name } of schemas) database.run(`PRAGMA ${name}.secure_delete = ${mode}`);
  };
  turn("ON");
  try {
    return work();
  } finally {
    turn("OFF");
  }
}
