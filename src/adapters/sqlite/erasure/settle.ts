import type { PackAccess } from "../pack-access.ts";
import { noteSettled, readUnsettled } from "./erase.ts";

/**
 * Removes the words of what was erased from the segments of the text index, everything that pages keep of rows that were moved or
 * deleted, and the log.
 */
export async function settleErasures(
  access: Pick<PackAccess, "read" | "write" | "purge">,
  waitMs: number,
): Promise<boolean> {
  const unsettled = await access.read(readUnsettled);
  if (unsettled.length === 0) return true;
  const isPurged = await access.purge((database) => noteSettled(database, []), waitMs);
  if (isPurged) await access.write((database) => noteSettled(database, unsettled));
  return isPurged;
}
