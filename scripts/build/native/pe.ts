/** What a 64-bit Windows library or program says of itself. */
export type Pe = {
  /** Libraries that it asks for, in lower case. */
  readonly libraries: readonly string[];
  readonly exports: readonly string[];
};

type Section = { readonly address: number; readonly size: number; readonly offset: number };

/** Directories of the optional header: where each begins, for files of 64 bits. */
const EXPORTS = 112;
const IMPORTS = 120;

/** Reads a PE file. @throws Error when it is none of 64 bits */
export function readPe(file: Uint8Array): Pe {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const number = (at: number): number => view.getUint32(at, true);
  const header = file[0] === 0x4d && file[1] === 0x5a ? number(60) : 0;
  const optional = header + 24;
  if (number(header) !== 0x4550 || view.getUint16(optional, true) !== 0x20b) {
    throw new Error("not a PE file of 64 bits");
  }
  const table = optional + view.getUint16(header + 20, true);
  const sections: Section[] = Array.from({ length: view.getUint16(header + 6, true) }, (_, i) => {
    const at = table + 40 * i;
    return { size: number(at + 8), address: number(at + 12), offset: number(at + 20) };
  });
  const place = (address: number): number => {
    const found = sections.find(
      (one) => address >= one.address && address < one.address + one.size,
    );
    return found === undefined ? 0 : address - found.address + found.offset;
  };
  const text = (address: number): string => {
    const at = place(address);
    return Buffer.from(file.subarray(at, file.indexOf(0, at))).toString("latin1");
  };
  const list = place(number(optional + EXPORTS));
  const names = list === 0 ? 0 : place(number(list + 32));
  const exports = Array.from({ length: list === 0 ? 0 : number(list + 24) }, (_, i) =>
    text(number(names + 4 * i)),
  );
  const libraries: string[] = [];
  const imports = place(number(optional + IMPORTS));
  for (let at = imports; at !== 0 && number(at + 12) !== 0; at += 20) {
    libraries.push(text(number(at + 12)).toLowerCase());
  }
  return { libraries, exports };
}
