import type { Database } from "bun:sqlite";
import { type NamespaceIdentity, requireIdentity } from "../../../domain/owner.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const ID = "namespace_id";
const NAME = "namespace_name";

/** Gives a pack what it lacks of its identity. Runs inside a write transaction. */
export function writeNamespace(database: Database, { id, name }: NamespaceIdentity): void {
  if (readPackSetting(database, ID) === undefined) writePackSetting(database, ID, id);
  if (name === undefined || readPackSetting(database, NAME) !== undefined) return;
  writePackSetting(database, NAME, name);
}

/**
 * Checks that a pack is the expected one. One without a name has every name.
 * @throws SvcError namespace_mismatch; nothing was changed
 */
export function requireNamespace(
  database: Database,
  path: string,
  expected: NamespaceIdentity,
): void {
  const found = { id: readPackSetting(database, ID), name: readPackSetting(database, NAME) };
  const advice = "check namespace_id (SVC_NAMESPACE_ID) and that packs were not exchanged";
  requireIdentity(found, expected, { place: path, advice });
}
