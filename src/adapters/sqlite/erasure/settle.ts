import { type PackLayout, schemasOf } from "../connection/layout.ts";
import type { PackAccess } from "../pack-access.ts";
import { advanceIndexSequence } from "../write/index-sequence.ts";
import { noteSettled, readUnsettled } from "./erase.ts";
import { erasing } from "./secure-delete.ts";

/**
 * Removes the words of what was erased from the segments of the text index, everything that pages keep of rows that were moved or
 * deleted, and the log.
 */
export async function settleErasures(
  access: Pick<PackAccess, "read" | "write" | "purge">,
  layout: PackLayout,
  waitMs: number,
): Promise<boolean> {
  const unsettled = await access.read(readUnsettled);
  if (unsettled.length === 0) return true;
  await access.write((database) =>
    erasing(database, () => {
      // A removed document is only marked in the segment with its words until the segments are merged.
      database.run("INSERT INTO lexical_documents (lexical_documents) VALUES ('optimize')");
      advanceIndexSequence(database);
    }),
  );
  const isPurged = await access.purge((database) => {
    // Pages keep parts of rows that were moved to other pages long ago; only writing all pages again removes those.
    for (const schema of schemasOf(layout)) database.run(`VACUUM ${schema}`);
  }, waitMs);
  if (isPurged) await access.write((database) => noteSettled(database, unsettled));
  return isPurged;
}
