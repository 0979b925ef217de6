import { createHash } from "node:crypto";

/** What a 64-bit Mach-O file says of itself. */
export type Macho = {
  /** `arm64` or the number of another processor. */
  readonly processor: string;
  /** Oldest macOS that may load it, as "13.0"; undefined when it does not say. */
  readonly minimum: string | undefined;
  /** Libraries that it asks for, as `/usr/lib/libSystem.B.dylib`. */
  readonly libraries: readonly string[];
  /** Symbols that it gives to others, without the underscore that C puts before them. */
  readonly exports: readonly string[];
  readonly signature: Signature | undefined;
};

/** A signature has a hash of every page: macOS ends a program at the first page that differs. */
export type Signature = {
  /** Whether it names nobody. */
  readonly isAdHoc: boolean;
  readonly pages: number;
  /** Pages whose hash is another one than the signature says. */
  readonly wrong: number;
};

const MAGIC = 0xfeedfacf;
const ARM64 = 0x0100000c;
const COMMAND = { symbols: 2, library: 12, signature: 29, version: 50 } as const;
const DEFINED_AND_EXTERNAL = { mask: 0x1f, value: 0x0f } as const;
const LINKERS_OWN = ["_mh_dylib_header", "__dso_handle"];
const CODE_DIRECTORY = 0xfade0c02;
const AD_HOC = 2;

/** Reads a Mach-O file. @throws Error when it is none of 64 bits */
export function readMacho(file: Uint8Array): Macho {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.getUint32(0, true) !== MAGIC) throw new Error("not a Mach-O file of 64 bits");
  const number = (at: number): number => view.getUint32(at, true);
  const text = (at: number): string =>
    Buffer.from(file.subarray(at, file.indexOf(0, at))).toString("latin1");
  const commands = commandsIn(number);
  const of = (kind: number): readonly number[] =>
    commands.filter((at) => (number(at) & 0x7fffffff) === kind);
  const processor = number(4);
  return {
    processor: processor === ARM64 ? "arm64" : String(processor),
    minimum: of(COMMAND.version)
      .map((at) => `${number(at + 12) >> 16}.${(number(at + 12) >> 8) & 0xff}`)
      .at(0),
    libraries: of(COMMAND.library).map((at) => text(at + number(at + 8))),
    exports: of(COMMAND.symbols).flatMap((at) => exportsIn(file, at, number, text)),
    signature: of(COMMAND.signature)
      .map((at) => signatureIn(file, number(at + 8)))
      .at(0),
  };
}

type Read<Value> = (at: number) => Value;

function commandsIn(number: Read<number>): readonly number[] {
  const found: number[] = [];
  let at = 32;
  for (let i = 0; i < number(16); i++) {
    found.push(at);
    at += number(at + 4);
  }
  return found;
}

function exportsIn(
  file: Uint8Array,
  command: number,
  number: Read<number>,
  text: Read<string>,
): string[] {
  const [symbols, count, strings] = [8, 12, 16].map((offset) => number(command + offset));
  return Array.from({ length: count ?? 0 }, (_, i) => (symbols ?? 0) + 16 * i)
    .filter(
      (at) => ((file[at + 4] ?? 0) & DEFINED_AND_EXTERNAL.mask) === DEFINED_AND_EXTERNAL.value,
    )
    .map((at) => text((strings ?? 0) + number(at)).slice(1))
    .filter((name) => !LINKERS_OWN.includes(name));
}

/** Its numbers are big-endian. */
function signatureIn(file: Uint8Array, start: number): Signature | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const blobs = Array.from(
    { length: view.getUint32(start + 8) },
    (_, i) => start + view.getUint32(start + 16 + 8 * i),
  );
  const directory = blobs.find((at) => view.getUint32(at) === CODE_DIRECTORY);
  if (directory === undefined) return undefined;
  const hashes = directory + view.getUint32(directory + 16);
  const pages = view.getUint32(directory + 28);
  const limit = view.getUint32(directory + 32);
  const size = view.getUint8(directory + 36);
  const pageSize = 1 << view.getUint8(directory + 39);
  let wrong = 0;
  for (let i = 0; i < pages; i++) {
    const page = file.subarray(i * pageSize, Math.min((i + 1) * pageSize, limit));
    const said = file.subarray(hashes + i * size, hashes + (i + 1) * size);
    if (!createHash("sha256").update(page).digest().subarray(0, size).equals(said)) wrong += 1;
  }
  return { isAdHoc: (view.getUint32(directory + 12) & AD_HOC) !== 0, pages, wrong };
}
