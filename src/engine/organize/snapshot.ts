import { parseId, parseOwner } from "../../domain/arguments.ts";
import type { NodeType } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { canReplace, isActive, parseInstantInput } from "../../domain/lifecycle.ts";
import type { Edge, MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { Upkeep } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import type { EntitySnapshot, SnapshotOptions } from "./api.ts";

const NEIGHBOURS_MAX = 1000;

type SnapshotDeps = Pick<EngineDeps<Graph & Upkeep>, "store" | "clock">;

/** @throws SvcError invalid_argument unless it is an active entity */
export async function snapshot(
  deps: SnapshotDeps,
  entityId: string,
  options: SnapshotOptions = {},
): Promise<EntitySnapshot> {
  const id = parseId(entityId, "entity_id");
  const owner = parseOwner(options.userId);
  const at = parseInstantInput(options.atTime, "at_time");
  const entity = await deps.store.node(id, owner);
  if (entity === undefined || entity.nodeType !== "entity" || !isActive(entity.lifecycleState)) {
    throw invalid("entity_id", `${id} is no active memory of type entity`);
  }
  return snapshotOf(deps, entity, at);
}

/** @param at excludes what was stored later or was not valid then */
export async function snapshotOf(
  { store, clock }: SnapshotDeps,
  entity: MemoryNode,
  at: Instant | undefined,
): Promise<EntitySnapshot> {
  const { id: nodeId, userId: owner } = entity;
  const read = { nodeId, owner, maxHops: 1, maxVisited: NEIGHBOURS_MAX };
  const isThere = ({ createdAt, validFrom, validTo }: MemoryNode | Edge): boolean =>
    at === undefined ||
    (createdAt <= at && validFrom <= at && (validTo === undefined || validTo > at));
  const neighbours = (await store.neighborhood(read)).filter(
    (node) => canReplace(node.lifecycleState) && isThere(node),
  );
  const edges = (await store.edgesAt(nodeId)).filter(isThere);
  const isOut = ({ sourceId }: Edge): boolean => sourceId === nodeId;
  const ofType = (type: NodeType) => neighbours.filter(({ nodeType }) => nodeType === type);
  const groups = {
    facts: ofType("fact"),
    preferences: ofType("preference"),
    decisions: ofType("decision"),
    tasks: ofType("task"),
  };
  return {
    entityNode: entity,
    ...groups,
    relationships: [...edges.filter(isOut), ...edges.filter((edge) => !isOut(edge))],
    generatedAt: clock.now(),
    summaryText: inOneLine(entity, groups),
  };
}

type Groups = Pick<EntitySnapshot, "facts" | "preferences" | "decisions" | "tasks">;

function inOneLine(
  { content }: MemoryNode,
  { facts, preferences, tasks, decisions }: Groups,
): string {
  const groups = { Facts: facts, Preferences: preferences, Tasks: tasks, Decisions: decisions };
  const parts = Object.entries(groups).flatMap(([name, nodes]) =>
    nodes.length === 0 ? [] : [`${name}: ${nodes.map((node) => node.content).join("; ")}`],
  );
  return [content, ...parts].join(" | ").replace(/\s+/g, " ").trim();
}
