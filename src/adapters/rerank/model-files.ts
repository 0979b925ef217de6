import { homedir } from "node:os";
import { cacheDir } from "../native/cache-dir.ts";
import { type DownloadProgress, downloadModel } from "./download.ts";
import { downloadFolder, isDownloaded, parseModelSource } from "./model-folder.ts";

/** Where a model's files come from, and how long that may take. */
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
  /** Further files to download, where the model has them. Default: none. */
  readonly optionalFiles?: readonly string[] | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Folder below which downloads are kept. Default: the private cache folder of this user. */
  readonly cacheDir?: string | undefined;
};

/** The files of one model. */
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
 * The files that the options name. Nothing is looked up before the first call.
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
