import { closeSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { shownName } from "../../lib/shown-name.ts";
import type { FootageInput } from "../../ports/footage.ts";
import { LEADING_BYTES } from "./media-kind.ts";
import { READ_WITHOUT_WAITING } from "./source-file.ts";

/** A source, before its content is read. */
export type Found = {
  /** Undefined: bytes that nobody named. */
  readonly name: string | undefined;
  /** The name whose suffix tells the kind. */
  readonly fileName: string | undefined;
  /** Absolute, links resolved. */
  readonly path: string | undefined;
  readonly bytes: Uint8Array | undefined;
  /** The first bytes. */
  readonly leading: Uint8Array;
  /** Since the Unix epoch; undefined for bytes. */
  readonly modifiedMicros: number | undefined;
};

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "there is no such file",
};

/** @throws SvcError not_found if there is no file or it is a folder, unsupported_source if it is no file or cannot be read */
export function findSource(input: FootageInput, sourceName: string | undefined): Found {
  if ("bytes" in input) {
    const { bytes } = input;
    const leading = bytes.subarray(0, LEADING_BYTES);
    return {
      name: sourceName,
      fileName: sourceName,
      path: undefined,
      bytes,
      leading,
      modifiedMicros: undefined,
    };
  }
  const name = basename(input.path);
  try {
    // The name of what a link leads to may be another one.
    return { ...lookAt(realpathSync(input.path)), name: sourceName ?? name, fileName: name };
  } catch (error) {
    if (error instanceof SvcError || !(error instanceof Error)) throw error;
    const code = "code" in error ? String(error.code) : "";
    const reason = REASONS[code];
    if (reason !== undefined) throw missingFile(input.path, reason);
    throw unreadable(name, `it cannot be read (${code || error.message})`, error);
  }
}

function lookAt(path: string): Omit<Found, "name" | "fileName"> {
  const file = openSync(path, READ_WITHOUT_WAITING);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (stat.isDirectory()) throw missingFile(path, "it is a folder");
    if (!stat.isFile()) throw unreadable(basename(path), "it is no file but a device or pipe");
    const leading = new Uint8Array(LEADING_BYTES);
    const count = readSync(file, leading);
    const modifiedMicros = Number(stat.mtimeNs / 1000n);
    return { path, bytes: undefined, leading: leading.subarray(0, count), modifiedMicros };
  } finally {
    closeSync(file);
  }
}

function missingFile(path: string, reason: string): SvcError {
  return new SvcError("not_found", `${shownName(path)} cannot be observed: ${reason}`, {
    kind: "file",
    id: path,
  });
}

function unreadable(name: string, reason: string, cause?: unknown): SvcError {
  const message = `${shownName(name)} cannot be observed: ${reason}`;
  return new SvcError("unsupported_source", message, { source: name }, { cause });
}
