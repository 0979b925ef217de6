import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { isRunning } from "../native/process-identity.ts";
import { removeFile } from "../native/system-files.ts";

/** Pictures waiting to be described, by number. */
export type FrameStore = {
  readonly bytes: number;
  /** @throws SvcError disk_full */
  add(index: number, picture: Uint8Array): void;
  /** @throws Error if there is none */
  get(index: number): Uint8Array;
  close(): void;
};

type Place = { readonly start: number; readonly size: number; readonly tag: Buffer };

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;

/**
 * A store in a temporary file, so that a long video does not fill the memory. The file has no name and is encrypted with a key of this
 * process: it cannot be read once the process has ended.
 * @throws SvcError disk_full
 */
export function createFrameStore(): FrameStore {
  const path = join(tmpdir(), `svc-frames-${process.pid}-${randomBytes(6).toString("hex")}`);
  const file = inTemporaryRoom(() => openSync(path, "wx+", 0o600));
  const key = randomBytes(32);
  const places = new Map<number, Place>();
  let end = 0;
  let isNamed = false;
  try {
    removeFile(path);
  } catch {
    // Windows may refuse it while the file is open.
    isNamed = true;
  }
  return {
    get bytes() {
      return end;
    },
    add: (index, picture) => {
      const cipher = createCipheriv(CIPHER, key, ivOf(index));
      const content = Buffer.concat([cipher.update(picture), cipher.final()]);
      inTemporaryRoom(() => {
        for (let written = 0; written < content.length; ) {
          written += writeSync(file, content, written, content.length - written, end + written);
        }
      });
      places.set(index, { start: end, size: content.length, tag: cipher.getAuthTag() });
      end += content.length;
    },
    get: (index) => {
      const place = places.get(index);
      if (place === undefined) throw new Error(`frame ${index} is not kept`);
      const content = Buffer.alloc(place.size);
      for (let read = 0; read < place.size; ) {
        const count = readSync(file, content, read, place.size - read, place.start + read);
        if (count === 0) throw new Error(`frame ${index} is cut off`);
        read += count;
      }
      const decipher = createDecipheriv(CIPHER, key, ivOf(index)).setAuthTag(place.tag);
      return Buffer.concat([decipher.update(content), decipher.final()]);
    },
    close: () => {
      closeSync(file);
      if (isNamed) removeFile(path);
    },
  };
}

/** Each number is used once per key. */
function ivOf(index: number): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeUInt32LE(index, 0);
  return iv;
}

const PREFIX = "svc-video-";

/** Uses a private file and removes it, along with those of processes killed meanwhile. */
export async function inTemporaryFile<T>(
  content: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  removeLeftovers();
  const path = join(tmpdir(), `${PREFIX}${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    inTemporaryRoom(() => writeFileSync(path, content, { mode: 0o600, flag: "wx" }));
    return await work(path);
  } finally {
    removeFile(path);
  }
}

function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^svc-video-(\d+)-[0-9a-f]{12}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      removeFile(join(tmpdir(), name));
    } catch {
      // It is another user's.
    }
  }
}

/** Writes into the folder for temporary files. @throws SvcError disk_full if it is full; any other error of the work */
function inTemporaryRoom<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
    const path = tmpdir();
    const message = `the folder ${path} has no room for pictures: make room there or point TMPDIR to another one`;
    throw new SvcError("disk_full", message, { path }, { cause });
  }
}
