/** Files that somebody made to change a pack without its key. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const JOURNAL_MAGIC = Buffer.from("d9d505f920a163d7", "hex");
const SECTOR = 512;
const PAGE = 8192;

/** A rollback journal without a record: obeyed, it gives the database so many pages. */
export function forgedJournal(pages: number, pageSize = PAGE): Buffer {
  const journal = Buffer.alloc(SECTOR);
  JOURNAL_MAGIC.copy(journal);
  journal.writeUInt32BE(pages, 16);
  journal.writeUInt32BE(SECTOR, 20);
  journal.writeUInt32BE(pageSize, 24);
  return journal;
}

/** The same, naming a file as the list of journals of its transaction: obeyed, that file is deleted. */
export function journalNaming(list: string, pages: number): Buffer {
  const name = Buffer.from(list);
  const tail = Buffer.alloc(12 + name.length + 8);
  tail.writeUInt32BE(0x40000000 / PAGE + 1, 0);
  name.copy(tail, 4);
  tail.writeUInt32BE(name.length, 4 + name.length);
  tail.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    8 + name.length,
  );
  JOURNAL_MAGIC.copy(tail, 12 + name.length);
  return Buffer.concat([forgedJournal(pages), tail]);
}

/** A log whose checksums are right and whose one frame makes the first page `page`. */
export function forgedLog(page: Buffer, pageNumber = 1): Buffer {
  const header = Buffer.alloc(32);
  // Checksums of big-endian words.
  [0x377f0683, 3007000, PAGE, 0, 0x1234, 0x5678].forEach((value, i) => {
    header.writeUInt32BE(value, 4 * i);
  });
  const first = checksum(header.subarray(0, 24), [0, 0]);
  header.writeUInt32BE(first[0], 24);
  header.writeUInt32BE(first[1], 28);
  const frame = Buffer.alloc(24);
  frame.writeUInt32BE(pageNumber, 0);
  frame.writeUInt32BE(Math.max(1, pageNumber), 4);
  header.copy(frame, 8, 16, 24);
  const second = checksum(page, checksum(frame.subarray(0, 8), first));
  frame.writeUInt32BE(second[0], 16);
  frame.writeUInt32BE(second[1], 20);
  return Buffer.concat([header, frame, page]);
}

/** SQLite's running checksum of a log, over big-endian words. */
export function checksum(
  bytes: Buffer,
  [one, two]: readonly [number, number],
): readonly [number, number] {
  let [a, b] = [one, two];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readUInt32BE(at) + b) >>> 0;
    b = (b + bytes.readUInt32BE(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** What lies in a folder, by name: size and digest of each file, the kind of anything else. */
export function fingerprint(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => {
        const path = join(folder, entry.name);
        // Its locks and marks change with every reader.
        if (entry.name.endsWith("-shm")) return [entry.name, "index"];
        if (!entry.isFile()) return [entry.name, entry.isDirectory() ? "folder" : "other"];
        const digest = createHash("sha256").update(readFileSync(path)).digest("hex");
        return [entry.name, `${statSync(path).size} ${digest}`];
      }),
  );
}
