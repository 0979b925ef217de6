import {
  parseId,
  parseOptionalBoolean,
  parseOptionalInteger,
  parseOptionalList,
  parseOptionalMember,
  parseOptionalMembers,
  parseOptionalNumber,
  parseOwner,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  type Scope,
} from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { isActive } from "../../domain/lifecycle.ts";
import { LIMITS } from "../../domain/limits.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { parseInstantInput } from "../../domain/validity.ts";
import { given as withoutAbsent } from "../../lib/case.ts";
import { nameForm } from "../../lib/normal-form.ts";
import type { EventPage } from "../../ports/store/event-log.ts";
import type { Graph, NodeFilter } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { EventQuery, NodeQuery } from "./api.ts";

/** One node; inactive ones only on request. */
export async function getNode(
  deps: Pick<EngineDeps<Graph>, "store">,
  nodeId: string,
  options: { readonly userId?: string | undefined; readonly includeSuperseded?: boolean },
): Promise<MemoryNode | undefined> {
  const node = await deps.store.node(parseId(nodeId, "node_id"), parseOwner(options.userId));
  if (node === undefined || options.includeSuperseded === true) return node;
  return isActive(node.lifecycleState) ? node : undefined;
}

/** Checks a node query and fills in its defaults. Absent members do not restrict. */
export function parseNodeQuery(query: NodeQuery): NodeFilter {
  const scopes = commonScopes(query);
  const given = {
    nodeType: parseOptionalMember(NODE_TYPES, query.nodeType, "node_type"),
    scopes: scopes === "none" ? undefined : scopes,
    sessionIds: texts(query.sessionIds, "session_ids")?.flatMap((id) => [id, nameForm(id)]),
    validAt: parseInstantInput(query.validAt, "valid_at"),
    minConfidence: parseOptionalNumber(query.minConfidence, "min_confidence", 0, 1),
    minSalience: parseOptionalNumber(query.minSalience, "min_salience", 0, 1),
    contentContainsAny: texts(query.contentContainsAny, "content_contains_any"),
    createdBefore: parseInstantInput(query.createdBefore, "created_before"),
    olderThan: parsePlace(query.olderThan),
  };
  const states = parseOptionalMembers(LIFECYCLE_STATES, query.lifecycleStates, "lifecycle_states");
  return {
    ...withoutAbsent(given),
    owner: parseOwner(query.userId),
    // An empty list of states matches nothing, whereas an empty list of scopes would match everything.
    lifecycleStates: scopes === "none" ? [] : (states ?? ACTIVE_STATES),
    oldestFirst: parseOptionalBoolean(query.oldestFirst, "oldest_first") ?? false,
    limit: parseOptionalInteger(query.limit, "limit", 0, LIMITS.nodeQueryMax) ?? 100,
  };
}

function parsePlace(place: NodeQuery["olderThan"]): NodeFilter["olderThan"] {
  if (place === undefined || place === null) return undefined;
  const createdAt = parseInstantInput(place.createdAt, "older_than.created_at");
  if (createdAt === undefined) throw invalid("older_than.created_at", "is missing");
  return { createdAt, id: parseId(place.id, "older_than.id") };
}

/** Checks an event query and fills in its defaults. */
export function parseEventQuery(query: EventQuery): EventPage {
  const given = {
    sessionId: parseSessionId(query.sessionId),
    scopes: parseOptionalMembers(SCOPES, query.scopes, "scopes"),
  };
  return {
    ...withoutAbsent(given),
    userId: parseUserId(query.userId),
    limit: parseOptionalInteger(query.limit, "limit", 0, LIMITS.eventPageMax) ?? 100,
    offset: parseOptionalInteger(query.offset, "offset", 0) ?? 0,
  };
}

/** The scopes that both `scope` and `scopes` allow; an empty list does not restrict. Undefined: all. */
function commonScopes(query: NodeQuery): readonly Scope[] | undefined | "none" {
  const scopes = parseOptionalMembers(SCOPES, query.scopes, "scopes") ?? [];
  const scope = parseOptionalMember(SCOPES, query.scope, "scope");
  if (scope === undefined) return scopes.length === 0 ? undefined : scopes;
  return scopes.length === 0 || scopes.includes(scope) ? [scope] : "none";
}

function texts(value: unknown, field: string): string[] | undefined {
  return parseOptionalList(value, field)?.map((item) => parseText(item, field));
}
