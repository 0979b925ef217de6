import { statSync } from "node:fs";
import type { PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { writeEncryptionManifest } from "../adapters/sqlite/copy/encryption-manifest.ts";
import { importPack as importInto } from "../adapters/sqlite/transfer/import.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import {
  chooseModel,
  configuredModel,
  identityWith,
  modelOfPack,
  type UsableModel,
} from "../app/models.ts";
import type { Keyed, NewKey } from "../app/new-key.ts";
import { withConnection } from "../app/pack-connection.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import { VERSION } from "../app/version.ts";
import { pathArgument } from "../config/path.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import type { EmbeddingIdentity } from "../ports/models.ts";
import { makeKeyedPack } from "./hidden-pack.ts";
import { withPassingPack } from "./through-pack.ts";

export type ImportRequest = {
  /** A file that `export` wrote; undefined: standard input. */
  readonly file: string | undefined;
  readonly signal: AbortSignal;
  /** Called periodically with the number of records imported so far. */
  readonly onProgress: (done: number, total: number) => void;
};

export type ImportReport = Keyed & {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly counts: {
    readonly owner: number;
    readonly event: number;
    readonly operation: number;
    readonly node: number;
    readonly edge: number;
    readonly job: number;
    readonly receipt: number;
    readonly blob?: number | undefined;
    readonly vector: number;
  };
  /** True if some memories still have to be embedded, by a rebuild. */
  readonly lacksVectors: boolean;
  /** Keys of missing pictures that events or memories of the file refer to. */
  readonly missingPictures: readonly string[];
  /** Receipts left out because a development build wrote them. */
  readonly formerReceipts: number;
};

/**
 * Creates the configured pack, which must not exist yet, from an export, with a key as `createPack` does. The pack appears once every line
 * was checked and is on disk, or not at all. An empty configured database is filled from a temporary pack.
 * @throws SvcError not_an_export, too_large, pack_too_new, invalid_argument, not_found, encryption_failed, disk_full; the signal's reason
 */
export async function importPack(
  config: Config,
  newKey: NewKey,
  request: ImportRequest,
): Promise<ImportReport> {
  const path = databaseOf(config);
  if (path === undefined) return await importFiles(config, newKey, request);
  return await withPassingPack(config, async (passing, key) => {
    const report = await importFiles(passing, key, request);
    const { migrateToDatabase } = await import("./migrate-database.ts");
    const { signal } = request;
    await migrateToDatabase(report.config, config, { signal, onProgress: () => {} }, false);
    return { ...report, config, path, keptIn: undefined };
  });
}

async function importFiles(
  config: Config,
  newKey: NewKey,
  request: ImportRequest,
): Promise<ImportReport> {
  const layout = layoutOf(config);
  const file = request.file && requireFile(request.file);
  const place = { layout, purpose: "import" } as const;
  const { keyed, path, made } = await makeKeyedPack(config, newKey, place, (own, hidden) =>
    fill(own, hidden, { ...request, file }),
  );
  return { ...keyed, ...made, path };
}

async function fill(
  config: Config,
  layout: PackLayout,
  { file, signal, onProgress }: ImportRequest,
): Promise<Omit<ImportReport, "path" | keyof Keyed>> {
  const stream = file === undefined ? Bun.stdin.stream() : Bun.file(file).stream();
  const ofNew = configuredModel((await chooseModel(config)).config);
  return await withConnection(config, layout, async (connection) => {
    const now = createSystemClock().now();
    const made = await importInto({
      layout,
      connection,
      source: untilAborted(stream, signal),
      name: file ?? "standard input",
      modelFor: (exported) => identityWith(config, modelForImport(config, exported, ofNew)),
      softwareVersion: VERSION,
      now,
      blobMaxBytes: config.blob_max_bytes,
      signal,
      onProgress,
    });
    if (connection.cipher !== undefined && layout.kind === "directory") {
      writeEncryptionManifest(layout, now);
    }
    return made;
  });
}

/** The configured model, else the exported one, whose vectors can be kept, else the default of new packs. */
function modelForImport(
  config: Config,
  exported: EmbeddingIdentity,
  ofNew: UsableModel,
): UsableModel {
  const { embedding } = config;
  const isNamed = embedding.model_name !== undefined || hostedChoice(embedding) !== undefined;
  const kept = isNamed ? undefined : modelOfPack(config, exported);
  return kept ?? ofNew;
}

function requireFile(named: string): string {
  const file = pathArgument("file", named);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) {
    const message = `${file}: no such file; name one that svc export has written`;
    throw new SvcError("not_found", message, { kind: "file", id: file });
  }
  if (stat.isDirectory()) throw invalid("file", `${file} is a folder; name a file`);
  return file;
}

/** The chunks of a stream; rejects as soon as the signal is aborted, even while the other end is silent. */
async function* untilAborted(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const onAbort = (): void => void reader.cancel();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { value, done } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    await reader.cancel();
  }
}
