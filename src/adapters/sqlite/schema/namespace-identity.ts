import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const NAME = "namespace_id";

/** Gives a new pack its identity. Runs inside a write transaction. */
export function writeNamespace(database: Database, id: Uuid): void {
  writePackSetting(database, NAME, id);
}

/** Checks that a pack is the expected one. @throws SvcError namespace_mismatch; nothing was changed */
export function requireNamespace(database: Database, path: string, expected: Uuid): void {
  const found = readPackSetting(database, NAME);
  if (found === expected) return;
  const reason =
    found === undefined ? "has no namespace" : `belongs to the namespace with the id ${found}`;
  throw new SvcError(
    "namespace_mismatch",
    `${path}: ${reason}, not ${expected}. Nothing was changed; check namespace_id (SVC_NAMESPACE_ID) and that packs were not exchanged.`,
    { path, expected, found: found ?? null },
  );
}
