import { gzipSync } from "node:zlib";

/** A file to be packed. */
export type ArchiveEntry = {
  /** With `/`; a folder ends in it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly isExecutable?: boolean;
};

/** Seconds since 1970 of every entry, the time that npm gives to its own: equal files give equal bytes. */
const TIME = 499_162_500;
const BLOCK = 512;
const NAME_MAX = 100;

/** A tar file of the form that every system reads (ustar). @throws Error for a name of more than 100 bytes */
export function tar(entries: readonly ArchiveEntry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes, isExecutable = false }) => {
    const rest = bytes.byteLength % BLOCK;
    const padding = Buffer.alloc(rest === 0 ? 0 : BLOCK - rest);
    return [header(name, bytes.byteLength, isExecutable), bytes, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** The same, compressed. @param level 1 to 9 */
export function tarGz(entries: readonly ArchiveEntry[], level: number): Buffer {
  return gzipSync(tar(entries), { level });
}

function header(name: string, size: number, isExecutable: boolean): Buffer {
  if (Buffer.byteLength(name) > NAME_MAX)
    throw new Error(`${name} is too long a name for an archive`);
  const isFolder = name.endsWith("/");
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    block.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  };
  block.write(name, 0, "utf8");
  octal(isFolder || isExecutable ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(TIME, 136, 11);
  block.write("        ", 148, "latin1");
  block.write(isFolder ? "5" : "0", 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write("root", 265, "latin1");
  block.write("root", 297, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** An `ar` file, as a Debian package is one. */
export function ar(entries: readonly ArchiveEntry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes }) => {
    const fields = [name.padEnd(16), String(TIME).padEnd(12), "0     0     100644  "];
    const head = `${fields.join("")}${String(bytes.byteLength).padEnd(10)}\`\n`;
    return [Buffer.from(head), bytes, Buffer.from(bytes.byteLength % 2 === 0 ? "" : "\n")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}
