import { statSync } from "node:fs";
import type { DatabaseHealth } from "../adapters/postgres/inspect/database-health.ts";
import { requirePack } from "../adapters/sqlite/connection/failures.ts";
import { filesOf, mainPath } from "../adapters/sqlite/connection/layout.ts";
import {
  fadingReads,
  inspectPack,
  openToInspect,
  type PackInspection,
} from "../adapters/sqlite/read/inspect.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { toEngineSettings } from "../app/engine-settings.ts";
import { extractor, modelOfPack, textsTo } from "../app/models.ts";
import { opening, withDatabase } from "../app/pack-connection.ts";
import { isPackEncrypted, keyTextOf, withCipher } from "../app/pack-key.ts";
import { argumentOf, databaseOf, layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { ALL_OWNERS } from "../domain/owner.ts";
import { countFading, type FadingCounts } from "../engine/count-fading.ts";
import { isReceiptWhole, questionMs } from "../engine/receipt-check.ts";
import type { Upkeep } from "../ports/store/work.ts";

/** What a pack has cost so far, as medians of the newest 100; undefined where nothing was measured. */
export type Costs = {
  /** 0 without a hosted or language model; undefined with one, whose provider counts. */
  readonly modelTokens: 0 | undefined;
  readonly storeMs: number | undefined;
  readonly questionMs: number | undefined;
  /** Undefined for few memories, beside which the empty tables weigh more. */
  readonly memoryBytes: number | undefined;
  readonly questionBytes: number | undefined;
};

/** A pack as `svc info` shows it. */
export type PackReport = PackInspection & {
  readonly costs: Costs;
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  /** Size of that file alone. */
  readonly bytes: number;
  /** Undefined for a database, whose server decides. */
  readonly encrypted: boolean | undefined;
  /** Of a database: the version of TLS of the connection, as the server reports it; undefined without TLS. */
  readonly tls?: string | undefined;
  /** Whether this program, or the settings, include the pack's embedding model. */
  readonly includesModel: boolean;
  /** Who gets the texts of memories and questions to embed them; undefined if they stay on this machine. */
  readonly textsTo: { readonly provider: string; readonly host: string } | undefined;
  /** The model that extracts facts from ingested messages, and where their text goes; undefined if extraction is off. */
  readonly extractor: ReturnType<typeof extractor>;
  /** Days for which receipts of questions are kept; 0: none; undefined: unlimited. */
  readonly receiptDays: number | undefined;
};

/**
 * Examines the configured pack without changing it.
 * @throws SvcError not_found, not_a_pack, pack_too_new, encryption_failed, pack_damaged, storage_failed
 */
export async function reportOnPack(config: Config, checkIntegrity: boolean): Promise<PackReport> {
  if (databaseOf(config) !== undefined) {
    return await reportOnDatabase(config);
  }
  const layout = layoutOf(config);
  const path = mainPath(layout);
  requirePack(path, `create it with: svc init ${path}`);
  const { size: bytes } = statSync(path);
  const inspection = await withCipher(layout, keyTextOf(config), (cipher) =>
    inspectPack({ layout, checkIntegrity, isReceiptWhole, ...opening(config), cipher }),
  );
  const all = filesOf(layout).reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  return {
    ...inspection,
    path,
    bytes,
    encrypted: isPackEncrypted(layout),
    ...modelsOf(config, inspection, all),
  };
}

/** Counts what fades in the configured pack or database, without changing it. @throws SvcError as `reportOnPack` */
export async function reportOnFading(config: Config): Promise<FadingCounts> {
  const settings = toEngineSettings(config);
  const now = createSystemClock().now();
  if (databaseOf(config) !== undefined) {
    return await fadingOfDatabase(config, (store) => countFading({ store, settings }, now));
  }
  const layout = layoutOf(config);
  const reading = await withCipher(layout, keyTextOf(config), (cipher) =>
    openToInspect({ layout, ...opening(config), cipher }),
  );
  try {
    const store = fadingReads(reading.database);
    return await countFading({ store, settings }, now);
  } finally {
    reading.close();
  }
}

/**
 * Keeps other processes that open and close the configured pack from checkpointing its log.
 * @returns a function that ends that
 * @throws SvcError, SQLiteError
 */
export async function holdPack(config: Config): Promise<() => void> {
  const layout = layoutOf(config);
  const reading = await withCipher(layout, keyTextOf(config), (cipher) =>
    openToInspect({ layout, ...opening(config), cipher }),
  );
  return () => reading.close();
}

/** Memories from which the size of a file says what one takes. */
const COUNTED_FROM = 100;
/** Stores that took longer waited for something else: a queue, or the next start. */
const STORE_MS = 60_000;

function costsOf(
  { nodeCount, receipts, blobs, recent }: PackInspection,
  bytes: number,
  isLocal: boolean,
): Costs {
  const questions = recent.receipts.flatMap((body) => questionMs(body) ?? []);
  const own = bytes - receipts.bytes - blobs.bytes;
  return {
    modelTokens: isLocal ? 0 : undefined,
    storeMs: median(recent.storesMs.filter((ms) => ms >= 0 && ms < STORE_MS)),
    questionMs: median(questions),
    memoryBytes: nodeCount < COUNTED_FROM ? undefined : Math.round(own / nodeCount),
    questionBytes: median(recent.receipts.map(({ length }) => length)),
  };
}

/** One line; undefined where nothing was measured. */
export function costsInWords({ costs }: PackReport): string | undefined {
  const { modelTokens, storeMs, questionMs, memoryBytes, questionBytes } = costs;
  if (storeMs === undefined && questionMs === undefined) return undefined;
  const parts = [
    [modelTokens, "tokens of a model"],
    [storeMs, "ms a store"],
    [questionMs, "ms a question"],
    [memoryBytes, "bytes a memory"],
    [questionBytes, "bytes a question"],
  ] as const;
  return parts
    .flatMap(([value, unit]) => (value === undefined ? [] : `${value} ${unit}`))
    .join(", ");
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const READING = { poolSize: 1, isReadOnly: true };

/**
 * Examines the configured database without changing it.
 * @throws SvcError not_found without tables, pack_too_new, storage_busy while it is being filled, storage_unavailable, storage_failed
 */
async function reportOnDatabase(config: Config) {
  const place = databaseOf(config) ?? "";
  const { inspectDatabase } = await import("../adapters/postgres/inspect/inspect-database.ts");
  const { requireTables } = await import("../adapters/postgres/schema/migrate.ts");
  const { requireWhole } = await import("../adapters/postgres/transfer/transfer-state.ts");
  const inspection = await withDatabase(config, READING, async (database) => {
    await database.read(ALL_OWNERS, (sql) => requireTables(sql, place));
    await requireWhole(database, place);
    return await database.snapshot(ALL_OWNERS, inspectDatabase);
  });
  const nothing = { keyBackup: undefined, damage: undefined, damagedReceipts: undefined };
  const examined = { ...inspection, ...nothing };
  return {
    ...examined,
    path: argumentOf(config) ?? "",
    encrypted: undefined,
    ...modelsOf(config, examined, inspection.bytes),
  };
}

/** What the settings add to an examined pack. @param bytes of all its files */
function modelsOf(config: Config, inspection: PackInspection, bytes: number) {
  const model = modelOfPack(config, inspection.manifest.embedding);
  const models = {
    textsTo: model && textsTo(config, model),
    extractor: extractor(config),
  };
  const isLocal = models.textsTo === undefined && models.extractor === undefined;
  return {
    ...models,
    includesModel: model !== undefined,
    receiptDays: config.receipts.retention_days,
    costs: costsOf(inspection, bytes, isLocal),
  };
}

/** The health of the configured database's server. @throws SvcError storage_unavailable, storage_failed */
export async function healthOfDatabase(config: Config): Promise<DatabaseHealth> {
  const { readHealth } = await import("../adapters/postgres/inspect/database-health.ts");
  return await withDatabase(config, READING, (database) =>
    database.read(ALL_OWNERS, (sql) => readHealth(sql, Date.now)),
  );
}

/** Reads about what fades in the configured database. @throws SvcError storage_unavailable, storage_failed */
async function fadingOfDatabase<T>(
  config: Config,
  use: (
    reads: Pick<Upkeep, "walkAging" | "lastSteps" | "lastUses" | "countRetained">,
  ) => Promise<T>,
): Promise<T> {
  const [{ bindUpkeep }, { accessOf }] = await Promise.all([
    import("../adapters/sql/upkeep.ts"),
    import("../adapters/postgres/connection/run.ts"),
  ]);
  return await withDatabase(config, READING, (database) => use(bindUpkeep(accessOf(database))));
}
