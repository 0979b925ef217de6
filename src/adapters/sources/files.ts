import { once } from "node:events";
import {
  createReadStream,
  createWriteStream,
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { type Entry, open as openZipFile, type ZipFile } from "yauzl";
import { SvcError } from "../../domain/errors.ts";
import { shownName } from "../../lib/text.ts";
import type { SourceInput } from "../../ports/sources.ts";

/** A file of a source: on disk, or in an archive. */
export type SourceFile = {
  /** Within the source, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since the Unix epoch; undefined: unknown. */
  readonly modified: number | undefined;
  open(): AsyncIterable<Uint8Array>;
  /** A path for programs that need a file; one of an archive is unpacked first. */
  onDisk(): Promise<string>;
};

/** An entry that is not read, such as a link. */
type Refused = { readonly file: string; readonly as: string; readonly why: string };
const A_LINK = { as: "a link", why: "it is a link" };

export type OpenSource = {
  /** What tells it from others of its kind: the place of its folder, or the name of what was sent. */
  readonly instance: string;
  readonly isFolder: boolean;
  readonly files: AsyncIterable<SourceFile>;
  /** Bytes in all files, for the progress; an estimate. */
  readonly bytes: number;
  readonly refused: Refused[];
  close(): void;
};

const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** Unpacked bytes of an archive, and per packed byte. */
const UNPACKED_MAX = 20 * 1024 ** 3;
const RATIO_MAX = 100;
/** An archive this small may have any ratio. */
const SMALL = 16 * 1024 ** 2;
const SKIPPED_FOLDERS = new Set(["node_modules", "__MACOSX"]);

/** Opens a source for reading only. @throws SvcError not_found, unsupported_source, disk_full */
export async function openSource(input: SourceInput, signal: AbortSignal): Promise<OpenSource> {
  if ("path" in input) return await openPath(input.path);
  const folder = mkdtempSync(join(tmpdir(), "svc-import-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const name = basename(input.name ?? "") || "upload";
    const path = join(folder, "upload");
    await spool(input.bytes, path, signal);
    const opened = await openPath(path, name);
    return {
      ...opened,
      instance: input.name ?? "",
      close: () => {
        opened.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function spool(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600, flags: "wx" });
  const failed = once(file, "error").then(([error]) => Promise.reject(asOurs(error, path)));
  failed.catch(() => {});
  for await (const piece of bytes) {
    signal.throwIfAborted();
    if (!file.write(piece)) await Promise.race([once(file, "drain"), failed]);
  }
  const closed = once(file, "close");
  file.end();
  await Promise.race([closed, failed]);
}

async function openPath(path: string, shown = basename(path)): Promise<OpenSource> {
  let real: string;
  let stat: Stats;
  try {
    real = realpathSync(path);
    stat = statSync(real);
  } catch (error) {
    throw asOurs(error, path);
  }
  if (stat.isDirectory()) return openFolder(real);
  if (!stat.isFile()) {
    throw unsupported(shown, "it is neither a file nor a folder, but a device or a pipe");
  }
  const file = fileOnDisk(real, shown, stat);
  if (isZip(await headOf(file, ZIP.length))) {
    const office = await officeOf(file);
    if (office === undefined) return await openArchive(real, shown, stat);
  }
  return {
    instance: dirname(real),
    isFolder: false,
    files: each([file]),
    bytes: stat.size,
    refused: [],
    close: () => {},
  };
}

function fileOnDisk(path: string, name: string, stat: Stats): SourceFile {
  return {
    path: name,
    size: stat.size,
    modified: stat.mtimeMs,
    open: () => createReadStream(path, { highWaterMark: 256 * 1024 }),
    onDisk: async () => path,
  };
}

/** Files of a folder by name, without links, hidden ones, and folders of programs. */
function openFolder(root: string): OpenSource {
  const found: { readonly path: string; readonly name: string; readonly stat: Stats }[] = [];
  const refused: Refused[] = [];
  const take = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const name = basename(path);
    const shown = relative(root, path).split(sep).join("/");
    if (stat?.isSymbolicLink() === true) refused.push({ ...A_LINK, file: shown });
    else if (stat?.isDirectory() === true && !SKIPPED_FOLDERS.has(name)) {
      try {
        walk(path);
      } catch (error) {
        refused.push({ file: shown, as: "a folder", why: `it cannot be read (${codeOf(error)})` });
      }
    } else if (stat?.isFile() === true) found.push({ path, name: shown, stat });
  };
  const walk = (folder: string): void => {
    const names = readdirSync(folder).sort();
    for (const name of names) if (!name.startsWith(".")) take(join(folder, name));
  };
  walk(root);
  return {
    instance: root,
    isFolder: true,
    files: each(found.map(({ path, name, stat }) => fileOnDisk(path, name, stat))),
    bytes: found.reduce((sum, { stat }) => sum + stat.size, 0),
    refused,
    close: () => {},
  };
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** The files of an archive, in its order. */
async function openArchive(path: string, shown: string, stat: Stats): Promise<OpenSource> {
  const { zip, entries } = await listArchive(path, shown);
  const refused: Refused[] = [];
  const files = entries.filter((entry) => {
    const { fileName } = entry;
    if (isLink(entry)) refused.push({ ...A_LINK, file: fileName });
    const isHidden = fileName
      .split("/")
      .some((part) => part.startsWith(".") || SKIPPED_FOLDERS.has(part));
    return !fileName.endsWith("/") && !isLink(entry) && !isHidden;
  });
  const unpacked = files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (unpacked > UNPACKED_MAX || (unpacked > SMALL && unpacked > stat.size * RATIO_MAX)) {
    zip.close();
    throw unsupported(
      shown,
      `it is a zip file of ${stat.size} bytes that says it holds ${unpacked}; at most 100 times its size and 20 GiB are unpacked`,
    );
  }
  const folders: string[] = [];
  return {
    instance: shown,
    isFolder: true,
    files: each(files.map((entry) => fileInArchive(zip, entry, folders))),
    bytes: unpacked,
    refused,
    close: () => {
      zip.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Archive = { readonly zip: ZipFile; readonly entries: readonly Entry[] };

/** Reads the list of an archive; names that lead out of it are refused by the library. */
async function listArchive(path: string, shown: string): Promise<Archive> {
  return await new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(unsupported(shown, `it is a zip file that cannot be read: ${error.message}`, error));
    openZipFile(path, { lazyEntries: true, autoClose: false }, (error, zip) => {
      if (zip === undefined || error !== null) return fail(error ?? new Error("no entries"));
      const entries: Entry[] = [];
      zip.on("entry", (entry: Entry) => {
        entries.push(entry);
        zip.readEntry();
      });
      zip.on("end", () => resolve({ zip, entries }));
      zip.on("error", (problem: Error) => {
        zip.close();
        fail(problem);
      });
      zip.readEntry();
    });
  });
}

/** The kind of file is in the upper bits of the attributes that Unix programs write. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

function fileInArchive(zip: ZipFile, entry: Entry, folders: string[]): SourceFile {
  const file: SourceFile = {
    path: entry.fileName,
    size: entry.uncompressedSize,
    modified: entry.getLastModDate().getTime(),
    open: () => unpack(zip, entry),
    onDisk: async () => {
      const folder = mkdtempSync(join(tmpdir(), "svc-import-"));
      folders.push(folder);
      const path = join(folder, "file");
      await spool(file.open(), path, new AbortController().signal);
      return path;
    },
  };
  return file;
}

/** The library ends it with an error if it has more bytes than the archive says. */
async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => {
      if (opened === undefined || error !== null) reject(error ?? new Error("no stream"));
      else resolve(opened);
    });
  });
  for await (const piece of stream) if (typeof piece !== "string") yield piece;
}

function isZip(head: Uint8Array): boolean {
  return ZIP.every((byte, at) => head[at] === byte);
}

/** Which Office document a zip file is, by the parts in it. */
const OFFICE = {
  "word/document.xml": "docx",
  "xl/workbook.xml": "xlsx",
  "ppt/presentation.xml": "pptx",
};
export type Office = (typeof OFFICE)[keyof typeof OFFICE];

export async function officeOf(file: SourceFile): Promise<string | undefined> {
  const { zip, entries } = await listArchive(await file.onDisk(), file.path).catch(() => ({
    zip: undefined,
    entries: [],
  }));
  zip?.close();
  const names = new Set(entries.map(({ fileName }) => fileName));
  if (!names.has("[Content_Types].xml")) return undefined;
  return Object.entries(OFFICE).find(([part]) => names.has(part))?.[1] ?? "opc";
}

/** The first bytes of a file. */
export async function headOf(file: SourceFile, bytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of file.open()) {
    pieces.push(piece);
    length += piece.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(pieces).subarray(0, bytes);
}

export function isArchive(head: Uint8Array): boolean {
  return isZip(head);
}

export function unsupported(name: string, why: string, cause?: unknown): SvcError {
  const message = `${shownName(name)} cannot be imported: ${why}`;
  return new SvcError("unsupported_source", message, { source: name }, { cause });
}

export function asOurs(error: unknown, path: string): SvcError {
  if (error instanceof SvcError) return error;
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") {
    const message = `${shownName(path)}: there is no such file or folder`;
    return new SvcError("not_found", message, { kind: "file", id: path }, { cause: error });
  }
  if (code === "ENOSPC") {
    const message = "the disk for temporary files is full; nothing was imported";
    return new SvcError("disk_full", message, { path: tmpdir() }, { cause: error });
  }
  return unsupported(path, `it cannot be read (${code})`, error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
