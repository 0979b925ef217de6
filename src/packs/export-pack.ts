import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { requirePack, toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { filesOf, mainPath } from "../adapters/sqlite/connection/layout.ts";
import { exportJson, exportLines, readSnapshot } from "../adapters/sqlite/transfer/export-lines.ts";
import { type Salvaged, salvageLines } from "../adapters/sqlite/transfer/salvage.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { withConnection } from "../app/pack-connection.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import { VERSION } from "../app/version.ts";
import { pathArgument } from "../config/path.ts";
import type { Config } from "../config/schema.ts";
import { invalid } from "../domain/errors.ts";
import { requireNoCompanion } from "./hidden-pack.ts";
import { withPassingPack } from "./through-pack.ts";

export type { Salvaged };

export type ExportRequest = {
  /** `jsonl` can be imported again; `json` is for other programs. */
  readonly form: "jsonl" | "json";
  readonly withVectors: boolean;
  /** For a damaged pack: exports what can be read, and says what. */
  readonly salvage?: ((found: readonly Salvaged[]) => void) | undefined;
  /** A file to create; undefined: everything goes to `write`. */
  readonly output: string | undefined;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  /** Resolves when it accepts more. */
  readonly write: (text: string) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Where an export went, and its size. */
export type ExportReport = {
  readonly path: string | undefined;
  readonly bytes: number;
};

/**
 * Exports the configured pack. The file appears once it is complete and on disk, readable only by its owner, or not at all. A database is
 * first copied into a temporary pack.
 * @throws SvcError not_found, not_a_pack, pack_too_new, encryption_failed, invalid_argument, disk_full, storage_failed; the signal's reason
 */
export async function exportPack(config: Config, request: ExportRequest): Promise<ExportReport> {
  const { signal, force } = request;
  const output = request.output && resolve(pathArgument("output", request.output));
  const database = databaseOf(config);
  if (database === undefined) return await exportFiles(config, { ...request, output });
  if (output !== undefined) requireWritableTarget(output, [], force);
  return await withPassingPack(config, async (passing, key) => {
    const { migrateFromDatabase } = await import("./migrate-database.ts");
    const made = await migrateFromDatabase(config, passing, key, { signal, onProgress: () => {} });
    return await exportFiles(made.config, { ...request, output }, database);
  });
}

/** @param request its `output` is absolute @param name of the source. Default: the path of the pack */
async function exportFiles(
  config: Config,
  request: ExportRequest,
  name?: string,
): Promise<ExportReport> {
  const layout = layoutOf(config);
  const path = mainPath(layout);
  requirePack(path, `create it with: svc init ${path}`);
  const target = request.output;
  if (target !== undefined) requireWritableTarget(target, filesOf(layout), request.force);
  const exportedAt = createSystemClock().now();
  const { form, withVectors, salvage, signal } = request;
  return await withConnection(config, layout, async (connection) => {
    const choices = { withVectors, softwareVersion: VERSION, exportedAt };
    const pieces = readSnapshot(
      layout,
      connection,
      (database) => {
        if (salvage !== undefined) return salvageLines(database, choices, salvage);
        return form === "json"
          ? exportJson(database, { exportedAt, path: name ?? path })
          : exportLines(database, choices);
      },
      salvage !== undefined,
    );
    const bytes =
      target === undefined
        ? await pour(pieces, request.write, signal)
        : await pourIntoFile(pieces, target, signal);
    return { path: target, bytes };
  });
}

function requireWritableTarget(target: string, pack: readonly string[], force: boolean): void {
  requireNoCompanion("output", target);
  const stat = statSync(target, { throwIfNoEntry: false });
  if (stat === undefined) {
    const folder = statSync(dirname(target), { throwIfNoEntry: false });
    if (folder?.isDirectory() !== true) throw invalid("output", `${dirname(target)} is no folder`);
    return;
  }
  if (!stat.isFile()) {
    throw invalid("output", `${target} is no regular file; name a file, or - for standard output`);
  }
  const isPack = pack
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .some((other) => other?.ino === stat.ino && other.dev === stat.dev);
  if (isPack) throw invalid("output", `${target} is part of the pack itself; name another file`);
  if (!force) {
    throw invalid(
      "output",
      `${target} exists already; name another file or replace it with --force`,
    );
  }
}

async function pour(
  pieces: Iterable<string>,
  write: (text: string) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  let bytes = 0;
  for (const piece of pieces) {
    signal.throwIfAborted();
    await write(piece);
    bytes += Buffer.byteLength(piece);
  }
  return bytes;
}

async function pourIntoFile(
  pieces: Iterable<string>,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  const hidden = join(
    dirname(target),
    `.${basename(target)}.${randomBytes(8).toString("hex")}.export`,
  );
  let file: FileHandle | undefined;
  try {
    file = await open(hidden, "wx", 0o600);
    const handle = file;
    const bytes = await pour(pieces, (text) => handle.writeFile(text), signal);
    await file.sync();
    await file.close();
    file = undefined;
    await rename(hidden, target);
    return bytes;
  } catch (error) {
    await file?.close();
    await rm(hidden, { force: true });
    throw toSvcError(error, target);
  }
}
