import { createHash, randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { fetchWatched, RefusedError, type WatchedResponse } from "./fetch-watched.ts";
import { downloadFolder, isDownloaded, RECEIPT_NAME } from "./model-folder.ts";

/** Progress of a model's download. */
export type DownloadProgress = {
  readonly model: string;
  readonly file: string;
  readonly receivedBytes: number;
  /** Undefined when the host does not say. */
  readonly totalBytes: number | undefined;
};

export type DownloadOptions = {
  /** `name` or `owner/name`. */
  readonly id: string;
  readonly revision: string;
  /** For example `https://huggingface.co`. */
  readonly hubUrl: string;
  /** Private folder below which the model is kept. */
  readonly cacheDir: string;
  /** Milliseconds for the whole download. */
  readonly timeoutMs: number;
  /** Milliseconds without a byte after which the host counts as silent. */
  readonly stallTimeoutMs: number;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal: AbortSignal;
  /** Further files, where the model has them. Default: none. */
  readonly optionalFiles?: readonly string[] | undefined;
};

const REQUIRED = ["config.json", "tokenizer.json", "tokenizer_config.json"] as const;
/** The first one that the hub has is used: int8 weights are a quarter of the size and about as good. */
const WEIGHTS = ["onnx/model_quantized.onnx", "onnx/model.onnx"] as const;
const DISK_FAILURES = ["EACCES", "EDQUOT", "EEXIST", "EIO", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"];
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * The folder of a model, downloaded first if missing. The folder appears at once and complete, so that processes that start
 * together never see half a model; the loser's copy is dropped.
 * @throws SvcError model_failed if the hub cannot be reached, is silent, or has no such model; nothing is kept
 * @throws the signal's reason when it is aborted
 */
export async function downloadModel(options: DownloadOptions): Promise<string> {
  const folder = downloadFolder(options.cacheDir, options.id, options.revision);
  if (isDownloaded(folder)) return folder;
  const partial = `${folder}.partial-${process.pid}-${randomBytes(6).toString("hex")}`;
  const deadline = AbortSignal.timeout(options.timeoutMs);
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 });
    await removeAbandoned(folder);
    await fetchFiles(options, partial, AbortSignal.any([options.signal, deadline]));
    await publish(partial, folder);
    return folder;
  } catch (cause) {
    options.signal.throwIfAborted();
    const reason = deadline.aborted
      ? `the download took longer than ${options.timeoutMs / 1000} seconds`
      : reasonOf(cause);
    throw new SvcError(
      "model_failed",
      `the model ${options.id} cannot be downloaded from ${hostOf(options.hubUrl)}: ${reason}. Try again with a network, or set the model to a folder that holds its files`,
      { model: options.id },
    );
  } finally {
    // A failed removal must not hide why the download failed; the next download tries again.
    await rm(partial, { recursive: true, force: true }).catch(() => {});
  }
}

async function fetchFiles(
  options: DownloadOptions,
  partial: string,
  signal: AbortSignal,
): Promise<void> {
  let revision = options.revision;
  let commit: string | undefined;
  const take = async (file: string): Promise<boolean> => {
    const url = `${options.hubUrl}/${options.id}/resolve/${encodeURIComponent(revision)}/${file}`;
    const response = await fetchWatched(url, { signal, stallTimeoutMs: options.stallTimeoutMs });
    if (response.status === 404) return false;
    if (response.status !== 200) throw new RefusedError(refusal(response.status, file));
    // All further files come from the same commit, even if the branch moves on in between.
    commit ??= response.headers.get("x-repo-commit") ?? undefined;
    revision = commit ?? revision;
    await save(response, file, join(partial, file), options);
    return true;
  };
  for (const file of REQUIRED) {
    if (!(await take(file))) throw new RefusedError(`it has no ${file}, or there is no such model`);
  }
  let hasWeights = false;
  for (const file of WEIGHTS) hasWeights ||= await take(file);
  if (!hasWeights) throw new RefusedError(`it has none of ${WEIGHTS.join(", ")}`);
  for (const file of options.optionalFiles ?? []) await take(file);
  const receipt = { model: options.id, revision: options.revision, commit: commit ?? null };
  await writeFile(join(partial, RECEIPT_NAME), `${JSON.stringify(receipt)}\n`);
}

async function save(
  response: WatchedResponse,
  file: string,
  path: string,
  { id, onProgress }: DownloadOptions,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  const out = await open(path, "wx", 0o600);
  let receivedBytes = 0;
  try {
    for await (const piece of response.body) {
      hash.update(piece);
      receivedBytes += piece.byteLength;
      await out.writeFile(piece);
      onProgress?.({ model: id, file, receivedBytes, totalBytes: response.totalBytes });
    }
  } finally {
    await out.close();
  }
  if (response.totalBytes !== undefined && receivedBytes !== response.totalBytes) {
    throw new RefusedError(`${file} was cut off after ${receivedBytes} bytes`);
  }
  const expected = response.sha256;
  if (expected !== undefined && hash.digest("hex") !== expected) {
    throw new RefusedError(
      `${file} arrived damaged: its SHA-256 is not the one that was announced`,
    );
  }
}

async function publish(partial: string, folder: string): Promise<void> {
  try {
    await rename(partial, folder);
  } catch (error) {
    // Another process was faster; a folder that is not empty is not replaced.
    if (!isDownloaded(folder)) throw error;
  }
}

/** Removes copies of downloads that were killed. */
async function removeAbandoned(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(folder)}.partial-`)) continue;
    const path = join(parent, name);
    // It may finish, and so vanish, at this moment.
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - modified > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

function refusal(status: number, file: string): string {
  if (status === 401 || status === 403) return "it is private, or there is no such model";
  return `the host answered ${file} with status ${status}`;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof RefusedError) return cause.message;
  if (!(cause instanceof Error)) return "an unknown failure";
  const code = "code" in cause ? String(cause.code) : cause.name;
  return DISK_FAILURES.includes(code)
    ? `its files cannot be written (${code})`
    : `the host cannot be reached (${code})`;
}

function hostOf(hubUrl: string): string {
  return URL.canParse(hubUrl) ? new URL(hubUrl).host : "the hub";
}
