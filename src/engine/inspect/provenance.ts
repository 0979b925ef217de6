import {
  parseId,
  parseOptionalInteger,
  parseOptionalText,
  parseOptionalUserId,
} from "../../domain/arguments.ts";
import { invalid } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { LIMITS } from "../../domain/limits.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { fromBase64Url, toBase64Url } from "../../lib/base64.ts";
import { parseInstant } from "../../lib/instant.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";
import type { OperationsOnTarget } from "../../ports/graph-reads.ts";
import type { Operation } from "../../ports/operation.ts";
import type { Provenance, ProvenanceOptions } from "../changes.ts";
import type { EngineDeps } from "../deps.ts";

const DEFAULT_PAGE = 100;

/**
 * Their targets are identifiers that callers choose. One that is also the id of a memory says nothing about that memory,
 * whoever chose it.
 */
const ON_CALLERS_IDS: ReadonlySet<string> = new Set([
  "FAST_INGEST_BATCH",
  "ANSWER_CITATIONS_RECORDED",
]);

type Position = NonNullable<OperationsOnTarget["after"]>;
type ProvenanceDeps = Pick<EngineDeps, "store">;

/**
 * Where a memory comes from and what was done to it. Undefined for an unknown or foreign memory.
 * @throws SvcError invalid_argument, also for a cursor that is none
 */
export async function getProvenance(
  deps: ProvenanceDeps,
  nodeId: string,
  options: ProvenanceOptions,
): Promise<Provenance | undefined> {
  const id = parseId(nodeId, "node_id");
  const userId = parseOptionalUserId(options.userId);
  const after = parseCursor(options.operationCursor);
  const limit =
    parseOptionalInteger(options.operationLimit, "operation_limit", 1, LIMITS.operationPageMax) ??
    DEFAULT_PAGE;
  const node = await deps.store.node(id, userId);
  if (node === undefined) return undefined;
  const [evidence, operations, contradictionEdges] = await Promise.all([
    readEvidence(deps, node),
    readOperations(deps, { targetId: id, after, limit: limit + 1 }),
    deps.store.contradictionsOf(id),
  ]);
  const page = operations.slice(0, limit);
  const last = page.at(-1);
  return {
    node,
    ...evidence,
    operations: page,
    contradictionEdges,
    nextOperationCursor:
      operations.length > page.length && last !== undefined ? toCursor(last) : undefined,
  };
}

async function readEvidence(
  { store }: ProvenanceDeps,
  node: MemoryNode,
): Promise<Pick<Provenance, "evidenceEvents" | "missingEvidenceRefs">> {
  const refs = [...new Set(node.evidenceRefs)];
  const owned = new Map<Uuid, MemoryEvent>();
  for (const event of refs.length === 0 ? [] : await store.eventsById(refs)) {
    if (event.userId === node.userId && event.scope === node.scope) owned.set(event.id, event);
  }
  return {
    evidenceEvents: refs.flatMap((ref) => owned.get(ref) ?? []),
    missingEvidenceRefs: refs.filter((ref) => !owned.has(ref)),
  };
}

/** Up to `limit` operations that are about the memory. */
async function readOperations(
  { store }: ProvenanceDeps,
  { limit, ...from }: OperationsOnTarget,
): Promise<readonly Operation[]> {
  const found: Operation[] = [];
  let { after } = from;
  while (found.length < limit) {
    const wanted = limit - found.length;
    const read = await store.operationsOn({ ...from, after, limit: wanted });
    found.push(...read.filter(({ opType }) => !ON_CALLERS_IDS.has(opType)));
    if (read.length < wanted) break;
    after = read.at(-1);
  }
  return found;
}

function toCursor({ createdAt, id }: Operation): string {
  return toBase64Url(JSON.stringify([createdAt, id]));
}

function parseCursor(value: unknown): Position | undefined {
  const text = parseOptionalText(value, "operation_cursor");
  if (text === undefined) return undefined;
  const position = readPosition(fromBase64Url(text));
  if (position === undefined) {
    throw invalid(
      "operation_cursor",
      `${JSON.stringify(text.slice(0, 80))} is not the next_operation_cursor of an earlier page`,
    );
  }
  return position;
}

function readPosition(json: string | undefined): Position | undefined {
  const parts = json === undefined ? undefined : parseJson(json);
  if (!Array.isArray(parts) || parts.length !== 2) return undefined;
  const [createdAt, id]: unknown[] = parts;
  if (typeof createdAt !== "string" || typeof id !== "string") return undefined;
  const moment = parseInstant(createdAt);
  const uuid = parseUuid(id);
  return typeof moment === "string" || uuid === undefined
    ? undefined
    : { createdAt: moment.instant, id: uuid };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
