import { asInstant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { MemoryNode } from "./node.ts";

/** Optional members of a node: absent in memory, null in a record. */
const OPTIONAL = [
  "sessionId",
  "metadata",
  "eventTime",
  "validTo",
  "ttlDays",
  "supersededBy",
] as const satisfies readonly (keyof MemoryNode)[];

/** A complete node as JSON, as audit records keep it. `nodeFromRecord` restores it exactly. */
export function toNodeRecord(node: MemoryNode): JsonObject {
  const record: Record<string, JsonObject[string]> = {};
  for (const key of OPTIONAL) record[key] = null;
  for (const [key, value] of Object.entries(node)) {
    if (value !== undefined) record[key] = value;
  }
  return record;
}

/** The node of a record that `toNodeRecord` wrote. */
export function nodeFromRecord(record: JsonObject): MemoryNode {
  const entries = Object.entries(record).map(([key, value]) => [key, value ?? undefined]);
  // SAFETY: the record was written by toNodeRecord and its checksum was verified by the caller.
  const node = Object.fromEntries(entries) as MemoryNode;
  return { ...node, createdAt: asInstant(node.createdAt) };
}
