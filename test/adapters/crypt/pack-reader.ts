/** Decrypts packs by docs/pack-format.md and node:crypto alone; shares no code with the program. */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";

export type Keys = { readonly page: Buffer; readonly log: Buffer; readonly check: Buffer };

const RESERVED = 32;
const CLEAR = 24;
const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const LOCK_BYTE = 1_073_741_824;

/** Section 1. */
export function keysOf(masterKey: Uint8Array, salt: Uint8Array): Keys {
  const derive = (info: string): Buffer =>
    Buffer.from(hkdfSync("sha256", masterKey, salt, info, 32));
  return {
    page: derive("svc-pack-page-v1"),
    log: derive("svc-pack-wal-v1"),
    check: derive("svc-pack-check-v1"),
  };
}

/** One AES-256 block. */
export function block(key: Buffer, input: Buffer): Buffer {
  return createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(input);
}

export function checkValue(keys: Keys): Buffer {
  return block(keys.check, Buffer.from("svc-crypt-kcv-v1")).subarray(0, 4);
}

export function pageSizeOf(file: Buffer): number {
  const stored = file.readUInt16BE(16);
  return stored === 1 ? 65_536 : stored;
}

export function aadOf(kind: number, page: number, clear: Buffer): Buffer {
  const aad = Buffer.alloc(9);
  aad.write("SVC1", "latin1");
  aad[4] = kind;
  aad.writeUInt32BE(page, 5);
  return Buffer.concat([aad, clear]);
}

/** Sections 2 to 4: the plain bytes between `clear` and the reserved space. */
function unseal(keys: Keys, kind: number, page: number, sealed: Buffer, clear: number): Buffer {
  const end = sealed.length - RESERVED;
  const cipher = createDecipheriv("aes-256-gcm", keys.page, sealed.subarray(end, end + 12));
  cipher.setAAD(aadOf(kind, page, sealed.subarray(0, clear)));
  cipher.setAuthTag(sealed.subarray(end + 12, end + 28));
  return Buffer.concat([cipher.update(sealed.subarray(clear, end)), cipher.final()]);
}

/** "Every other page". */
export function openImage(keys: Keys, kind: number, page: number, sealed: Buffer): Buffer {
  if (sealed.readUInt32BE(sealed.length - 4) !== 0) throw new Error("spare bytes");
  return Buffer.concat([unseal(keys, kind, page, sealed, 0), Buffer.alloc(RESERVED)]);
}

export function openFirstPage(keys: Keys, sealed: Buffer): Buffer {
  if (!sealed.subarray(-4).equals(checkValue(keys))) throw new Error("wrong key");
  return Buffer.concat([
    Buffer.from("SQLite format 3\0"),
    sealed.subarray(16, 21),
    Buffer.from([64, 32, 32]),
    unseal(keys, 1, 1, sealed, CLEAR),
    Buffer.alloc(RESERVED),
  ]);
}

/** The whole database as SQLite would have written it without encryption. */
export function decryptFile(masterKey: Uint8Array, file: Buffer): Buffer {
  const keys = keysOf(masterKey, file.subarray(0, 16));
  const size = pageSizeOf(file);
  const pages: Buffer[] = [];
  for (let at = 0; at < file.length; at += size) {
    const sealed = file.subarray(at, at + size);
    const page = at / size + 1;
    if (at === LOCK_BYTE) pages.push(Buffer.alloc(size));
    else pages.push(page === 1 ? openFirstPage(keys, sealed) : openImage(keys, 1, page, sealed));
  }
  return Buffer.concat(pages);
}

/** Section 3: the log as SQLite would have written it. */
export function decryptLog(masterKey: Uint8Array, file: Buffer, log: Buffer): Buffer {
  const keys = keysOf(masterKey, file.subarray(0, 16));
  const size = pageSizeOf(file);
  const parts: Buffer[] = [log.subarray(0, WAL_HEADER)];
  for (let at = WAL_HEADER; at + FRAME_HEADER + size <= log.length; at += FRAME_HEADER + size) {
    const header = log.subarray(at, at + FRAME_HEADER);
    const decipher = createDecipheriv("aes-256-ecb", keys.log, null).setAutoPadding(false);
    const mixed = decipher.update(header.subarray(8));
    const vector = Buffer.alloc(16);
    vector.writeBigUInt64BE(BigInt(at));
    header.copy(vector, 8, 0, 8);
    const sealed = log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + size);
    parts.push(header.subarray(0, 8), Buffer.from(mixed.map((byte, i) => byte ^ (vector[i] ?? 0))));
    parts.push(openImage(keys, 2, header.readUInt32BE(0), sealed));
  }
  return Buffer.concat(parts);
}

/** Section 3: how many frames of a decrypted log a reader takes. */
export function countFrames(log: Buffer, size: number): number {
  const isLittle = log.readUInt32BE(0) === 0x377f0682;
  const add = (bytes: Buffer, [first, second]: readonly [number, number]): [number, number] => {
    let [a, b] = [first, second];
    for (let at = 0; at < bytes.length; at += 8) {
      const [x, y] = [at, at + 4].map((from) =>
        isLittle ? bytes.readUInt32LE(from) : bytes.readUInt32BE(from),
      );
      a = (a + (x ?? 0) + b) >>> 0;
      b = (b + (y ?? 0) + a) >>> 0;
    }
    return [a, b];
  };
  const fits = (at: number, [a, b]: readonly [number, number]): boolean =>
    log.readUInt32BE(at) === a && log.readUInt32BE(at + 4) === b;
  let sum = add(log.subarray(0, 24), [0, 0]);
  if (!fits(24, sum)) return 0;
  let taken = 0;
  let at = WAL_HEADER;
  for (let frames = 1; at + FRAME_HEADER + size <= log.length; frames += 1) {
    const page = log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + size);
    if (!log.subarray(at + 8, at + 16).equals(log.subarray(16, 24))) break;
    sum = add(page, add(log.subarray(at, at + 8), sum));
    if (!fits(at + 16, sum)) break;
    if (log.readUInt32BE(at + 4) > 0) taken = frames;
    at += FRAME_HEADER + size;
  }
  return taken;
}
