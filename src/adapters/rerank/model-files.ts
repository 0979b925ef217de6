import { createHash, randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { untilAborted } from "../../lib/pause.ts";
import { withHome } from "../../lib/text.ts";
import { cacheDir } from "../native/cache-dir.ts";
import { reach } from "../network/reach.ts";

/** The source of a model's files, and the time limit. */
export type ModelFilesOptions = {
  /**
   * A folder (`/path`, `./path`, `~/path`) with `config.json`, `tokenizer.json`, `tokenizer_config.json` and ONNX weights,
   * or the name of a model on the hub.
   */
  readonly model: string;
  /** Branch, tag or commit on the hub. Default `main`. */
  readonly revision?: string | undefined;
  /** Where models are downloaded from. Default `https://huggingface.co`. */
  readonly hubUrl?: string | undefined;
  /** Milliseconds for a whole download. Default 30 minutes. */
  readonly downloadTimeoutMs?: number | undefined;
  /** Milliseconds without a byte after which a download is abandoned. Default 30 seconds. */
  readonly stallTimeoutMs?: number | undefined;
  /** Further files to download if the model has them. Default: none. */
  readonly optionalFiles?: readonly string[] | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Folder below which downloads are kept. Default: the private cache folder of this user. */
  readonly cacheDir?: string | undefined;
};

export type ModelFiles = {
  /** The same path; undefined for a model on the hub that has not been downloaded. */
  present(): string | undefined;
  /**
   * The absolute path of their folder; they are downloaded first if they are on the hub and not here yet.
   * @throws SvcError model_failed if they cannot be downloaded; the signal's reason when it is aborted
   */
  folder(signal: AbortSignal): Promise<string>;
};

const HUB_URL = "https://huggingface.co";
const DOWNLOAD_TIMEOUT_MS = 30 * 60 * 1000;
const STALL_TIMEOUT_MS = 30 * 1000;

/**
 * The configured files. Nothing is looked up before the first call.
 * @throws SvcError invalid_config if `model` or `revision` cannot name a model
 */
export function createModelFiles(options: ModelFilesOptions): ModelFiles {
  const source = parseModelSource(options.model, options.revision ?? "main", homedir());
  const kept = () => options.cacheDir ?? cacheDir();
  return {
    present: () => {
      if (source.kind === "folder") return source.path;
      const folder = downloadFolder(kept(), source.id, source.revision);
      return isDownloaded(folder) ? folder : undefined;
    },
    folder: async (signal) => {
      if (source.kind === "folder") return source.path;
      return downloadModel({
        id: source.id,
        revision: source.revision,
        hubUrl: (options.hubUrl ?? HUB_URL).replace(/\/+$/, ""),
        cacheDir: kept(),
        timeoutMs: options.downloadTimeoutMs ?? DOWNLOAD_TIMEOUT_MS,
        stallTimeoutMs: options.stallTimeoutMs ?? STALL_TIMEOUT_MS,
        optionalFiles: options.optionalFiles,
        onProgress: options.onProgress,
        signal,
      });
    },
  };
}

type ModelSource =
  | { readonly kind: "folder"; readonly path: string }
  | {
      readonly kind: "hub";
      /** `name`, or `owner/name`. */
      readonly id: string;
      /** Branch, tag or commit. */
      readonly revision: string;
    };

/** The file that marks a complete download and records what was downloaded. */
export const RECEIPT_NAME = "svc-download.json";

/**
 * Reads a model setting: a path that begins with `/`, `./`, `../`, `~/` or `$HOME/` is a folder, anything else a name on the hub.
 * @throws SvcError invalid_config for text that is neither
 */
export function parseModelSource(model: string, revision: string, home: string): ModelSource {
  const path = withHome(model, home);
  if (path !== model || /^\.{0,2}\//.test(path)) return { kind: "folder", path: resolve(path) };
  const isName = /^[\w.-]{1,96}(\/[\w.-]{1,96})?$/.test(model);
  // The name becomes part of a path.
  if (!isName || model.split("/").some((part) => /^\.+$/.test(part))) {
    throw new SvcError(
      "invalid_config",
      `${JSON.stringify(model)} names no model; write owner/name, or a folder as /path or ./path`,
      { setting: "model" },
    );
  }
  if (!/^[\w.-]{1,128}$/.test(revision) || /^\.+$/.test(revision)) {
    throw new SvcError(
      "invalid_config",
      `${JSON.stringify(revision)} names no revision; write a branch, a tag or a commit`,
      { setting: "revision" },
    );
  }
  return { kind: "hub", id: model, revision };
}

export function downloadFolder(cacheDir: string, id: string, revision: string): string {
  return join(cacheDir, "models", ...id.split("/"), revision);
}

export function isDownloaded(folder: string): boolean {
  return existsSync(join(folder, RECEIPT_NAME));
}

export type DownloadProgress = {
  readonly model: string;
  readonly file: string;
  readonly receivedBytes: number;
  /** Undefined if the host does not say. */
  readonly totalBytes: number | undefined;
};

export type DownloadOptions = Pick<ModelFilesOptions, "onProgress" | "optionalFiles"> & {
  /** `name` or `owner/name`. */
  readonly id: string;
  readonly revision: string;
  /** For example `https://huggingface.co`. */
  readonly hubUrl: string;
  /** Private folder below which the model is kept. */
  readonly cacheDir: string;
  readonly timeoutMs: number;
  /** Milliseconds without a byte after which the host counts as silent. */
  readonly stallTimeoutMs: number;
  readonly signal: AbortSignal;
};

const REQUIRED = ["config.json", "tokenizer.json", "tokenizer_config.json"] as const;
/** The first one that the hub has is used: int8 weights are a quarter of the size and about as good. */
const WEIGHTS = ["onnx/model_quantized.onnx", "onnx/model.onnx"] as const;
const DISK_FAILURES = ["EACCES", "EDQUOT", "EEXIST", "EIO", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"];
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * The folder of a model, downloaded first if missing. The folder appears atomically, so that concurrent processes never see half a model;
 * the slower one's copy is dropped.
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
    // A failed cleanup must not hide why the download failed; the next download tries again.
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
    // All further files come from the same commit, even if the branch moves meanwhile.
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
    // Another process was faster; a non-empty folder is not replaced.
    if (!isDownloaded(folder)) throw error;
  }
}

/** Removes downloads of killed processes. */
async function removeAbandoned(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(folder)}.partial-`)) continue;
    const path = join(parent, name);
    // It may finish, and so disappear, at this moment.
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

/** A response that is dropped if its host falls silent. */
type WatchedResponse = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if the host does not say. */
  readonly totalBytes: number | undefined;
  /** SHA-256 of the content as announced by the host, 64 hexadecimal digits. */
  readonly sha256: string | undefined;
  /** Empty unless the status is 200. */
  readonly body: AsyncIterable<Uint8Array>;
};

type WatchOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte, of headers or of content. */
  readonly stallTimeoutMs: number;
};

/** A host's answer, or silence, that ends the download. The message contains no secret. */
class RefusedError extends Error {}

const MAX_REDIRECTS = 5;
/** Headers of the first answer that the last one lacks. */
const ANNOUNCED = ["x-repo-commit", "x-linked-etag"];

/**
 * Fetches a file and follows redirects, whose headers tell its commit and its hash. A silent or stalled host cannot hold the call beyond
 * the limit; fetch alone would wait indefinitely.
 * @throws RefusedError if the host is silent or redirects without end, the signal's reason when it is aborted, and the network's own error
 */
export async function fetchWatched(url: string, options: WatchOptions): Promise<WatchedResponse> {
  const watch = createWatch(options);
  const announced = new Headers();
  let target = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    // The length of a compressed answer would not be that of the file.
    const headers = { "accept-encoding": "identity" };
    const response = await watch((signal) =>
      reach(target, { redirect: "manual", signal, headers }),
    );
    const { status } = response;
    for (const name of ANNOUNCED) {
      const value = response.headers.get(name);
      if (value !== null && !announced.has(name)) announced.set(name, value);
    }
    // Not awaited: a hanging connection would delay its own end.
    if (status !== 200) response.body?.cancel().catch(() => {});
    const location = response.headers.get("location");
    if (status < 300 || status > 399 || location === null)
      return watched(response, announced, watch);
    target = redirectTarget(target, location);
  }
  throw new RefusedError(`the host redirected more than ${MAX_REDIRECTS} times`);
}

/** Target of a redirect. @throws RefusedError if it leaves an encrypted connection */
export function redirectTarget(from: string, location: string): string {
  const to = new URL(location, from);
  const isSafe = to.protocol === "https:" || to.protocol === new URL(from).protocol;
  if (!isSafe) throw new RefusedError("the host redirected to an address that is not encrypted");
  return to.href;
}

function watched(response: Response, announced: Headers, watch: Watch): WatchedResponse {
  const { status, headers, body } = response;
  const isPlain = (headers.get("content-encoding") ?? "identity") === "identity";
  const length = isPlain ? headers.get("content-length") : null;
  const etag = (announced.get("x-linked-etag") ?? "").replaceAll('"', "");
  return {
    status,
    headers: announced,
    totalBytes: length === null ? undefined : Number(length),
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : undefined,
    body: pieces(status === 200 ? body : null, watch),
  };
}

async function* pieces(
  body: ReadableStream<Uint8Array> | null,
  watch: Watch,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await watch(() => reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited, as above.
    void reader.cancel().catch(() => {});
  }
}

/** The value of a step; rejects if the step exceeds the limit, or the caller aborts. */
type Watch = <T>(step: (signal: AbortSignal) => Promise<T>) => Promise<T>;

function createWatch({ signal, stallTimeoutMs }: WatchOptions): Watch {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  return async (step) => {
    const message = `the host sent nothing for ${stallTimeoutMs / 1000} seconds`;
    const timer = setTimeout(() => stop.abort(new RefusedError(message)), stallTimeoutMs);
    try {
      return await untilAborted(step(either), either);
    } finally {
      clearTimeout(timer);
    }
  };
}

const STEP_PERCENT = 10;

/** Reports progress in few lines for a person: one when a file begins, and one for every tenth of it. */
export function progressLines(write: (line: string) => void): (progress: DownloadProgress) => void {
  let last = "";
  return ({ model, file, receivedBytes, totalBytes }) => {
    const line = `downloading ${model}: ${file}${howFar(receivedBytes, totalBytes)}`;
    if (line !== last) write(line);
    last = line;
  };
}

function howFar(receivedBytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return "";
  const percent = Math.floor((100 * receivedBytes) / totalBytes / STEP_PERCENT) * STEP_PERCENT;
  return `, ${percent} % of ${(totalBytes / 1e6).toFixed(1)} MB`;
}
