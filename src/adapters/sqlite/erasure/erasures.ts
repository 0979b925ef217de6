import { sharedPasses } from "../../../lib/pause.ts";
import type { Erasures } from "../../../ports/store/events.ts";
import type { PackLayout } from "../connection/layout.ts";
import type { PackAccess } from "../pack-access.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { erase, noteSettled, readUnsettled } from "./erase.ts";
import { lookAtReceipts, readReached, readResting } from "./reached.ts";
import { scan } from "./scan.ts";

/** Setting of a pack: the private key that signs what is said of erasures. */
const SIGNING_KEY = "forget_signing_key";

export function bindErasures({
  access,
  layout,
}: {
  readonly access: PackAccess;
  readonly layout: PackLayout;
}) {
  const { read, write } = access;
  const pass = sharedPasses((waitMs) => settleErasures(access, waitMs));
  const hasUnsettled = () => read((database) => readUnsettled(database).length > 0);
  return {
    restingOn: (userId, events) => read((database) => readResting(database, userId, events)),
    reached: async (scope) => {
      const told = await lookAtReceipts(access, scope);
      return read((database) => readReached(database, scope, told).counts);
    },
    erase: async (erasure) => {
      const told = await lookAtReceipts(access, erasure);
      return write((database) => erase(database, erasure, told));
    },
    hasUnsettledErasures: hasUnsettled,
    erasureStage: (forgetId) =>
      read((database) => (readUnsettled(database).includes(forgetId) ? "logical" : "physical")),
    settleErasures: async (waitMs) => !(await hasUnsettled()) || (await pass(waitMs)),
    scan: (texts, owner, questionOf = () => "") =>
      scan(access, layout, { texts, owner, questionOf }),
    signingKey: (made) =>
      write((database) => {
        const kept = readPackSetting(database, SIGNING_KEY);
        if (kept === undefined) writePackSetting(database, SIGNING_KEY, made);
        return kept ?? made;
      }),
  } satisfies Erasures;
}

/**
 * Removes the words of what was erased from the segments of the text index, everything that pages keep of rows that were moved or
 * deleted, and the log.
 */
async function settleErasures(
  access: Pick<PackAccess, "read" | "write" | "purge">,
  waitMs: number,
): Promise<boolean> {
  const unsettled = await access.read(readUnsettled);
  if (unsettled.length === 0) return true;
  const isPurged = await access.purge((database) => noteSettled(database, []), waitMs);
  if (isPurged) await access.write((database) => noteSettled(database, unsettled));
  return isPurged;
}
