import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { cacheDir, libraryDir } from "../adapters/native/cache-dir.ts";
import { kernelFailure } from "../adapters/native/kernel.ts";
import { loadInto } from "../adapters/native/load-library.ts";
import { openSqlite } from "../adapters/native/open-sqlite.ts";
import { IS_WINDOWS } from "../adapters/native/platform.ts";
import { loadSqliteVec, SQLITE_VEC } from "../adapters/native/sqlite-vec.ts";
import { filesOf, mainPath } from "../adapters/sqlite/connection/layout.ts";
import { setAsideOf } from "../adapters/sqlite/connection/own-log.ts";
import { hiddenFilesOf } from "../adapters/sqlite/copy/hidden-file.ts";
import { type FoundKey, findKey, type KeyRequest } from "../app/find-key.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { FOREIGN_LOG, SvcError, UNSAFE_FILE } from "../domain/errors.ts";
import { shellWord } from "../lib/shell-word.ts";
import { holdPack, type PackReport, reportOnPack } from "../packs/inspect-pack.ts";
import {
  checkEmbedding,
  checkFading,
  checkFormat,
  checkIndexes,
  checkJobs,
  checkPictures,
  reasonOf,
} from "./checks.ts";
import { checkAssistant, checkConnected } from "./diagnose-assistants.ts";
import { diagnoseDatabase } from "./diagnose-database.ts";
import { checkExtraction } from "./diagnose-extraction.ts";
import { checkKey } from "./diagnose-key.ts";
import { checkPlatform, thisMachine } from "./diagnose-platform.ts";
import { checkVision } from "./diagnose-vision.ts";
import type { Finding } from "./finding.ts";

/** With less than this, a day's work may fill the disk. */
const LOW_DISK_BYTES = 200e6;

/**
 * Examines the configured pack and what the program needs, without changing either. Where nothing is broken, this program is
 * started as an assistant starts it.
 * @param isRequired whether a missing pack is a failure or merely worth a warning.
 * @param request how the key of the pack may be found.
 */
export async function diagnose(
  config: Config,
  isRequired: boolean,
  request: KeyRequest,
): Promise<readonly Finding[]> {
  if (databaseOf(config) !== undefined) {
    return [...(await diagnoseDatabase(config)), ...surroundingsOf(config)];
  }
  const path = mainPath(layoutOf(config));
  const stat = statSync(path, { throwIfNoEntry: false });
  const surroundings = surroundingsOf(config);
  if (stat === undefined) {
    const message = `${path} is missing; make a pack with: svc init ${shellWord(path)}`;
    const pack: Finding = { name: "pack", status: isRequired ? "fail" : "warn", message };
    return [pack, ...surroundings];
  }
  const { findings, opened } = await checkKeyAndContent(config, request);
  const examined: Finding[] = [
    { name: "pack", status: "ok", message: `${path}, ${stat.size} bytes` },
    ...findings,
    checkPermissions(path),
    checkDisk(path),
    ...checkLeftovers(config),
    ...checkSetAside(config),
    ...surroundings,
  ];
  const isSound = examined.every(({ name, status }) => status === "ok" || isHarmless(name, status));
  if (opened !== undefined && isSound) {
    // The process that closes a pack last moves its log into it, which an examination must not cause.
    const release = await holdPack(opened.config);
    try {
      examined.push(await checkAssistant(config, opened.report));
    } finally {
      release();
    }
  }
  return [...examined, await checkConnected(config)];
}

function surroundingsOf(config: Config): readonly Finding[] {
  const program = [checkPlatform(thisMachine()), checkNativeLibrary(), checkCacheFolder()];
  return [...program, ...checkVision(config)];
}

/** A finding that does not keep an assistant from using the pack, and has been reported already. */
function isHarmless(name: string, status: Finding["status"]): boolean {
  return status === "warn" && name !== "permissions";
}

/** What was found, and the pack's own report with the configuration that opens it, if it could be read. */
type Examined = {
  readonly findings: readonly Finding[];
  readonly opened?: { readonly config: Config; readonly report: PackReport };
};

async function checkKeyAndContent(config: Config, request: KeyRequest): Promise<Examined> {
  let found: FoundKey;
  try {
    found = await findKey(config, request);
  } catch (error) {
    return { findings: [{ name: "key", status: "fail", message: reasonOf(error) }] };
  }
  let report: PackReport;
  try {
    report = await reportOnPack(found.config, true);
  } catch (error) {
    const key = await checkKey(config, found.source, undefined);
    return { findings: [key, { name: "opens", status: "fail", message: openFailure(error) }] };
  }
  const { config: opening } = found;
  return {
    findings: [
      await checkKey(config, found.source, report.keyBackup),
      ...(await checkContent(opening, report)),
    ],
    opened: { config: opening, report },
  };
}

async function checkContent(config: Config, report: PackReport): Promise<readonly Finding[]> {
  const { damage = [] } = report;
  return [
    { name: "opens", status: "ok", message: "is a pack and can be read" },
    ...checkFormat(report),
    damage.length === 0
      ? { name: "integrity", status: "ok", message: "every page is sound" }
      : {
          name: "integrity",
          status: "fail",
          message: `${damage.join("; ")}. Restore the pack from a copy`,
        },
    checkIndexes(report),
    ...checkPictures(report),
    checkReceipts(report),
    checkJobs(report),
    await checkFading(config, report.path),
    checkExtraction(config, report),
    checkEmbedding(config, report),
  ];
}

function openFailure(error: unknown): string {
  if (!(error instanceof SvcError) || error.code !== "storage_failed") return reasonOf(error);
  // The general advice for such a failure is to run doctor.
  const reason = error.data["reason"];
  // Without one it is no failure of the store, such as a library that cannot be unpacked, and says itself what to do.
  if (reason === undefined || reason === UNSAFE_FILE || reason === FOREIGN_LOG)
    return error.message;
  return reason === "SQLITE_CORRUPT"
    ? "is damaged and cannot be read. Restore the pack from a copy"
    : `cannot be read (${String(reason)}). Check the permissions of file and folder, and the disk`;
}

function checkReceipts({ damagedReceipts: damaged = [] }: PackReport): Finding {
  const name = "receipts";
  if (damaged.length === 0) return { name, status: "ok", message: "all can be read" };
  const message = `${damaged.length} cannot be read, the first of retrieval ${damaged[0]}; no memory is affected, but svc explain has no answer for them. Restore the pack from a copy if they matter`;
  return { name, status: "warn", message };
}

function checkPermissions(path: string): Finding {
  const name = "permissions";
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    if ((statSync(path).mode & 0o222) === 0) throw new Error("read-only for everybody");
  } catch {
    const message = "this user cannot write to the file and its folder; nothing can be stored";
    return { name, status: "warn", message };
  }
  // The rights of the folder decide there, and modes are made up.
  if (IS_WINDOWS) return { name, status: "ok", message: "writable for this user" };
  const mode = statSync(path).mode & 0o777;
  const shown = mode.toString(8);
  if ((mode & 0o022) !== 0) {
    const message = `mode ${shown}: other users may change the file; run: chmod go-w ${shellWord(path)}`;
    return { name, status: "warn", message };
  }
  return { name, status: "ok", message: `mode ${shown}, writable for this user` };
}

/** Copies on which another process may be at work. */
function checkLeftovers(config: Config): readonly Finding[] {
  const left = filesOf(layoutOf(config)).flatMap((file) => hiddenFilesOf(file));
  if (left.length === 0) return [];
  const message = `temporary copies lie beside the pack, which may hold what was forgotten since: ${left.join(", ")}. The next start for writing removes those of processes of this machine that have ended; remove the others if nothing is at work on the pack`;
  return [{ name: "copies", status: "warn", message }];
}

/** What svc restore-backup has put away. */
function checkSetAside(config: Config): readonly Finding[] {
  const layout = layoutOf(config);
  const left = setAsideOf(layout.kind === "file" ? layout.path : dirname(layout.databasePath));
  if (left.length === 0) return [];
  const message = `former packs lie beside the pack, which may hold what was forgotten since: ${left.join(", ")}. Once you no longer need them, delete them`;
  return [{ name: "set aside", status: "warn", message }];
}

function checkDisk(path: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(path));
  const free = bavail * bsize;
  const message = `${(free / 1e6).toFixed(0)} MB free`;
  return free < LOW_DISK_BYTES
    ? { name: "disk", status: "warn", message: `only ${message}; make room` }
    : { name: "disk", status: "ok", message };
}

function checkNativeLibrary(): Finding {
  const name = "native library";
  const database = openSqlite(":memory:");
  try {
    loadInto(database, { ...SQLITE_VEC, path: loadSqliteVec() });
    const version = database.query<{ v: string }, []>("SELECT vec_version() AS v").get()?.v;
    const failure = kernelFailure();
    if (failure === undefined) return { name, status: "ok", message: `sqlite-vec ${version}` };
    return { name, status: "warn", message: `${failure}; searches work without it, slower` };
  } catch (error) {
    return { name, status: "fail", message: reasonOf(error) };
  } finally {
    database.close();
  }
}

function checkCacheFolder(): Finding {
  const name = "cache folder";
  try {
    const dir = cacheDir();
    accessSync(dir, constants.W_OK);
    const libraries = libraryDir();
    const elsewhere = `, and libraries in ${libraries}, since none can be loaded from there`;
    return { name, status: "ok", message: libraries === dir ? dir : `${dir}${elsewhere}` };
  } catch (error) {
    const remedy = "; point XDG_CACHE_HOME to a writable folder";
    const message = `${reasonOf(error)}${error instanceof SvcError ? "" : remedy}`;
    return { name, status: "fail", message };
  }
}
