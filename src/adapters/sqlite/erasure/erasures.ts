import { sharedPasses } from "../../../lib/pause.ts";
import { type ErasureHooks, noteSettled, readUnsettled } from "../../sql/erasure.ts";
import { run as runStep, statement, together } from "../../sql/statement.ts";
import type { PackLayout } from "../connection/layout.ts";
import { native, run } from "../connection/run.ts";
import type { PackAccess } from "../pack-access.ts";
import { evict } from "../write/change.ts";
import { documentNumber } from "../write/lexical-index.ts";
import { scan } from "./scan.ts";
import { erasing } from "./secure-delete.ts";

const NODES = "SELECT count(*) AS n FROM json_each($2) i CROSS JOIN nodes n ON n.id = i.value";
const VECTORS =
  statement(`${NODES} WHERE EXISTS (SELECT 1 FROM vector_metadata v WHERE v.node_key = n.key)
  OR EXISTS (SELECT 1 FROM vector_payloads v WHERE v.node_key = n.key)`);
const DOCUMENTS = statement(
  `${NODES} CROSS JOIN lexical_documents_docsize d ON d.id = ${documentNumber("n.owner", "n.key")}`,
);
const UNSTAGE = statement("DELETE FROM vector_staging WHERE node_key = ANY ($1::integer[])");
const UNKEEP = statement("DELETE FROM vector_payloads WHERE node_key = ANY ($1::integer[])");
const NEWEST = statement(
  "UPDATE erased_keys SET newest = max(newest, coalesce((SELECT max(value) FROM json_each($1)), 0))",
);

/** What erasures in a pack ask of its files and indexes. */
export function erasureHooks(access: PackAccess, layout: PackLayout): ErasureHooks {
  return {
    erasing: (_userId, work) =>
      access.write((database) => erasing(database, () => run(database, work()))),
    vectors: VECTORS,
    documents: DOCUMENTS,
    evict: (_owner, keys) => native((database) => evict(database, keys)),
    release: (_owner, keys) =>
      together(runStep(UNSTAGE, keys), runStep(UNKEEP, keys), runStep(NEWEST, keys)),
    settle: sharedPasses((waitMs) => settle(access, waitMs)),
    scan: (texts, owner, questionOf = () => "") =>
      scan(access, layout, { texts, owner, questionOf }),
  };
}

/**
 * Removes the words of what was erased from the segments of the text index, everything that pages keep of rows that were moved or
 * deleted, and the log.
 */
async function settle(access: PackAccess, waitMs: number): Promise<boolean> {
  const unsettled = await access.read((database) => run(database, readUnsettled()));
  if (unsettled.length === 0) return true;
  const mark = (settled: readonly string[]) => (database: Parameters<typeof run>[0]) =>
    run(database, noteSettled(settled));
  const isPurged = await access.purge(mark([]), waitMs);
  if (isPurged) await access.write(mark(unsettled));
  return isPurged;
}
