import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { release } from "node:os";
import { dirname } from "node:path";
import { placeName } from "../adapters/keystore/key-store.ts";
import { cacheDir, libraryDir } from "../adapters/native/cache-dir.ts";
import { kernelFailure } from "../adapters/native/kernel.ts";
import { openSqlite } from "../adapters/native/load-library.ts";
import { IS_WINDOWS, PLATFORM } from "../adapters/native/system-files.ts";
import { filesOf, mainPath } from "../adapters/sqlite/connection/layout.ts";
import { setAsideOf } from "../adapters/sqlite/connection/own-log.ts";
import { hiddenFilesOf } from "../adapters/sqlite/copy/swap-files.ts";
import type { KeyBackup } from "../adapters/sqlite/schema/key-backup.ts";
import { reachedHost } from "../app/models.ts";
import {
  type FoundKey,
  findKey,
  isPackEncrypted,
  type KeyRequest,
  type KeySource,
  keyStoreOf,
  saltOf,
} from "../app/pack-key.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { FOREIGN_LOG, SvcError, UNSAFE_FILE } from "../domain/errors.ts";
import { shellWord } from "../lib/text.ts";
import { holdPack, type PackReport, reportOnPack } from "../packs/inspect-pack.ts";
import {
  checkFormat,
  checkIndexes,
  checkPictures,
  checkUse,
  type Finding,
  reasonOf,
} from "./checks.ts";
import { checkAssistant, checkConnected } from "./diagnose-assistants.ts";
import { diagnoseDatabase } from "./diagnose-database.ts";
import { checkHooks } from "./diagnose-hooks.ts";

/** Below this, a day's work may fill the disk. */
const LOW_DISK_BYTES = 200e6;

/**
 * Examines the configured pack and what the program needs, without changing either. If nothing is broken, it also starts this program as an
 * assistant does.
 * @param isRequired whether a missing pack is a failure or merely a warning
 * @param request how the key of the pack may be found
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
    // The last process to close a pack checkpoints its log, which an examination must not cause.
    const release = await holdPack(opened.config);
    try {
      examined.push(await checkAssistant(config, opened.report));
    } finally {
      release();
    }
  }
  return [...examined, await checkConnected(config), checkHooks(config)];
}

function surroundingsOf(config: Config): readonly Finding[] {
  const program = [checkPlatform(PLATFORM, release()), checkNativeLibrary(), checkCacheFolder()];
  return [...program, ...checkVision(config)];
}

/** A finding that does not keep an assistant from using the pack, and was already reported. */
function isHarmless(name: string, status: Finding["status"]): boolean {
  return status === "warn" && name !== "permissions";
}

/** The findings, and the pack's own report with the configuration that opens it, if readable. */
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
          message: `${damage.join("; ")}. Restore the pack from a copy, or take out what can be read: svc export ${shellWord(report.path)} --salvage --output FILE`,
        },
    checkIndexes(report),
    ...checkPictures(report),
    checkReceipts(report),
    ...(await checkUse(config, report)),
  ];
}

function openFailure(error: unknown): string {
  if (!(error instanceof SvcError) || error.code !== "storage_failed") return reasonOf(error);
  // The general advice for such a failure is to run doctor.
  const reason = error.data["reason"];
  // Without one the store did not fail, but for example a library could not be unpacked; the message says what to do.
  if (reason === undefined || reason === UNSAFE_FILE || reason === FOREIGN_LOG)
    return error.message;
  return reason === "SQLITE_CORRUPT"
    ? "is damaged and cannot be read. Restore the pack from a copy, or take out what can be read with: svc export --salvage"
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
  // Folder rights decide there; mode bits are emulated.
  if (IS_WINDOWS) return { name, status: "ok", message: "writable for this user" };
  const mode = statSync(path).mode & 0o777;
  const shown = mode.toString(8);
  if ((mode & 0o022) !== 0) {
    const message = `mode ${shown}: other users may change the file; run: chmod go-w ${shellWord(path)}`;
    return { name, status: "warn", message };
  }
  return { name, status: "ok", message: `mode ${shown}, writable for this user` };
}

/** Copies that another process may be working on. */
function checkLeftovers(config: Config): readonly Finding[] {
  const left = filesOf(layoutOf(config)).flatMap((file) => hiddenFilesOf(file));
  if (left.length === 0) return [];
  const message = `temporary copies lie beside the pack, which may hold what was forgotten since: ${left.join(", ")}. The next start for writing removes those of processes of this machine that have ended; remove the others if nothing is at work on the pack`;
  return [{ name: "copies", status: "warn", message }];
}

/** Files set aside by svc restore-backup. */
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
  try {
    openSqlite(":memory:").close();
    const failure = kernelFailure();
    if (failure === undefined) return { name, status: "ok", message: "searches use it" };
    return { name, status: "warn", message: `${failure}; searches work without it, slower` };
  } catch (error) {
    return { name, status: "fail", message: reasonOf(error) };
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

/** Whether the configured pack is encrypted, where its key is, and which risks there are. */
async function checkKey(
  config: Config,
  source: KeySource,
  backup: KeyBackup | undefined,
): Promise<Finding> {
  const layout = layoutOf(config);
  const salt = isPackEncrypted(layout) ? saltOf(layout) : undefined;
  if (salt === undefined) {
    const message = "the pack is not encrypted: anyone who can read the file can read the memories";
    return finding("ok", message);
  }
  const states = await keyStoreOf(config).places(salt);
  const problem = states.find((state) => state.problem !== undefined)?.problem;
  if (problem !== undefined) return finding("warn", problem);
  const places = [...states.map(({ place }) => placeName(place)), ...elsewhere(source)];
  const [only] = places;
  if (only === undefined || (states.length === 0 && source.kind === "given")) {
    return finding("ok", "encrypted; no key is kept on this machine, it is typed each time");
  }
  if (places.length > 1) return finding("ok", `encrypted; the key is in ${places.join(" and ")}`);
  if (backup?.salt === Buffer.from(salt).toString("hex")) {
    if (backup.at === "passphrase") {
      return finding("ok", `encrypted with a passphrase; the key made from it is in ${only}`);
    }
    const day = backup.at.slice(0, 10);
    return finding("ok", `encrypted; the key is in ${only}, and was backed up on ${day}`);
  }
  return finding(
    "warn",
    `encrypted; the key is known from one place only, ${only}. If you lose the key, you lose the pack: keep a backup elsewhere, made with: svc key export ${shellWord(layout.kind === "file" ? layout.path : layout.databasePath)}`,
  );
}

/** Places that this program reads keys from, but does not store them in. */
function elsewhere(source: KeySource): readonly string[] {
  if (source.kind === "given") return ["--encryption-key"];
  return source.kind === "settings" ? ["the setting encryption_key"] : [];
}

function finding(status: Finding["status"], message: string): Finding {
  return { name: "key", status, message };
}

/** Kernel of macOS 14, the oldest that ONNX Runtime loads on. */
const MACOS_14 = 23;
/** Limitations and peculiarities of a platform, named as in executables, with this kernel. */
export function checkPlatform(platform: string, kernel: string): Finding {
  const name = "platform";
  const shown = `${platform}, kernel ${kernel}`;
  if (platform === "darwin-arm64" && Number.parseInt(kernel, 10) < MACOS_14) {
    const message = `${shown}: the model needs macOS 14 or newer; memories are neither stored nor found by meaning`;
    return { name, status: "fail", message };
  }
  return { name, status: "ok", message: `${shown}${limitsOf(platform)}` };
}

function limitsOf(platform: string): string {
  if (platform.startsWith("windows"))
    return "; a preview; the rights of its folder decide who may read a pack";
  return platform.endsWith("arm64") ? "; vectors differ slightly from those of x64" : "";
}

/** What decodes videos. */
const DECODERS = ["ffmpeg", "ffprobe"];

/** Who receives pictures, and whether videos can be observed; no finding if observation is off. */
function checkVision({ vision }: Pick<Config, "vision">): readonly Finding[] {
  if (!vision.enabled) return [];
  const { provider, model, base_url: baseUrl } = vision;
  const name = "vision";
  const who = `pictures are shown to ${model} (${provider}, ${reachedHost(provider, baseUrl)})`;
  if (provider !== "ollama" && vision.api_key === undefined) {
    const message = `${who}, which needs a key: set SVC_VISION__API_KEY`;
    return [{ name, status: "fail", message }];
  }
  const absent = DECODERS.filter((program) => Bun.which(program) === null);
  if (absent.length === 0) return [{ name, status: "ok", message: who }];
  const message = `${who}; videos cannot be observed, because ${absent.join(" and ")} is not on the PATH: install ffmpeg`;
  return [{ name, status: "warn", message }];
}
