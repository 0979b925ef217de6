/** What an ELF file asks of the system that loads it. */
export type ElfNeeds = {
  /** Libraries by name, for example `libc.so.6`. */
  readonly libraries: readonly string[];
  /** Versions of symbols, for example `GLIBC_2.25`. */
  readonly versions: readonly string[];
};

const DYNAMIC = 6;
const VERSIONS_NEEDED = 0x6ffffffe;
const NEEDED = 1;

type Section = {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
};

/** Reads what a 64-bit little-endian ELF file needs. @throws Error when it is none */
export function elfNeeds(file: Uint8Array): ElfNeeds {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.getUint32(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) {
    throw new Error("not an ELF file of 64 bits");
  }
  const number = (at: number): number => Number(view.getBigUint64(at, true));
  const sections: Section[] = Array.from({ length: view.getUint16(60, true) }, (_, i) => {
    const at = number(40) + i * view.getUint16(58, true);
    return {
      type: view.getUint32(at + 4, true),
      offset: number(at + 24),
      size: number(at + 32),
      link: view.getUint32(at + 40, true),
      info: view.getUint32(at + 44, true),
    };
  });
  const text = (section: Section, at: number): string => {
    const start = (sections[section.link]?.offset ?? 0) + at;
    return Buffer.from(file.subarray(start, file.indexOf(0, start))).toString("latin1");
  };
  const libraries = sections
    .filter(({ type }) => type === DYNAMIC)
    .flatMap((section) => {
      const entries = Array.from({ length: section.size / 16 }, (_, i) => section.offset + 16 * i);
      return entries
        .filter((at) => number(at) === NEEDED)
        .map((at) => text(section, number(at + 8)));
    });
  const versions = sections
    .filter(({ type }) => type === VERSIONS_NEEDED)
    .flatMap((section) => versionsIn(view, section, (at) => text(section, at)));
  return { libraries, versions };
}

/** A list of files, each with a list of versions; every entry says how far away the next one is. */
function versionsIn(view: DataView, section: Section, text: (at: number) => string): string[] {
  const found: string[] = [];
  let file = section.offset;
  for (let i = 0; i < section.info; i++) {
    let version = file + view.getUint32(file + 8, true);
    for (let j = 0; j < view.getUint16(file + 2, true); j++) {
      found.push(text(view.getUint32(version + 8, true)));
      version += view.getUint32(version + 12, true);
    }
    file += view.getUint32(file + 12, true);
  }
  return found;
}

/** The newest glibc among versions of symbols, as [2, 25]; undefined when none is of glibc. */
export function newestGlibc(versions: readonly string[]): readonly [number, number] | undefined {
  return versions
    .flatMap((version): [number, number][] => {
      const match = /^GLIBC_(\d+)\.(\d+)/.exec(version);
      return match === null ? [] : [[Number(match[1]), Number(match[2])]];
    })
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
    .at(-1);
}
