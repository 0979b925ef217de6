import type { MemoryNode } from "../../../domain/node.ts";
import type { Provenance } from "../../../engine/inspect/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { Json } from "../../../lib/json.ts";
import { counted, moment } from "../core/tool-text.ts";
import { recordOf } from "./provenance-text.ts";

/** Operations of a memory that are looked through; the organizer rarely leaves more than two. */
const LOOKED_AT = 100;

/** The last change that the organizer made to a memory, in plain words; undefined: it made none. */
export async function organizerChange(
  engine: MemoryEngine,
  { id, userId, lifecycleState }: MemoryNode,
): Promise<string | undefined> {
  if (lifecycleState === "tentative") return undefined;
  const found = await engine.getProvenance(id, { userId, operationLimit: LOOKED_AT });
  return found?.operations.flatMap((operation) => changeWords(operation) ?? []).at(-1);
}

function changeWords({
  opType,
  createdAt,
  payload,
}: Provenance["operations"][number]): string | undefined {
  const when = moment(createdAt);
  switch (opType) {
    case "LIFECYCLE_CHANGED": {
      const record = recordOf(payload);
      const { job, reason, salience, confidence } = membersOf(record["organizer"]);
      if (typeof job !== "string") return undefined;
      const state = STATES[String(record["action"])] ?? "changed";
      const values =
        typeof salience === "number" && typeof confidence === "number"
          ? `: salience ${salience.toFixed(3)}, confidence ${confidence.toFixed(3)}`
          : "";
      return `${state} ${when} by ${job} (${String(reason).replaceAll("_", " ")}${values})`;
    }
    case "TOMBSTONE_SWEEP":
      return `archived ${when} because its retention of ${counted(Number(payload["ttl_days"]), "day", "days")} had ended`;
    case "ORGANIZER_MERGED":
      return recordOf(payload)["reason"] === "alias_resolution"
        ? `replaced ${when} by another name of the same thing`
        : `replaced ${when} by another memory that says the same`;
    case "CONSOLIDATION_RETIRED":
      return `replaced ${when} by a summary that quotes it`;
    default:
      return undefined;
  }
}

const STATES: Readonly<Record<string, string>> = {
  promote: "made stable",
  archive: "archived",
  deprecate: "made deprecated",
};

function membersOf(value: Json | undefined): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
