import { parseId, parseOwner } from "../../../domain/arguments.ts";
import type { NodeType } from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import { canReplace, isActive, parseInstantInput } from "../../../domain/lifecycle.ts";
import type { Edge, MemoryNode } from "../../../domain/node.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { Upkeep } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/expire.ts";
import type { EntitySnapshot, SnapshotOptions } from "../api.ts";
import { archive, decaySweep, promote, tombstoneSweep } from "./aging.ts";
import { consolidate } from "./consolidate.ts";
import { type OrganizerJob, trusting } from "./job.ts";
import { aliasResolve, deduplicate } from "./merge.ts";
import { summarize } from "./summarize.ts";

/** The jobs of `organize` in their default order. */
export function organizerJobs(
  deps: EngineDeps,
  feedbackApply: OrganizerJob,
): readonly OrganizerJob[] {
  return [
    trusting(deps, promote(deps)),
    trusting(deps, decaySweep(deps)),
    trusting(deps, archive(deps)),
    deduplicate(deps),
    aliasResolve(deps),
    summarize(deps),
    feedbackApply,
    trusting(deps, tombstoneSweep(deps)),
    snapshotGeneration(deps),
    consolidate(deps),
    indexCompaction(deps),
  ];
}

/** Removes index entries without an active memory. They exist only if a file lost a commit. */
function indexCompaction({ store }: Pick<EngineDeps<Upkeep>, "store">): OrganizerJob {
  return {
    name: "index_compaction",
    work: async (run) => {
      let nodesProcessed = 0;
      let nodesModified = 0;
      for (;;) {
        const limit = run.isDryRun ? 0 : run.batchSize;
        const { found, removed } = await store.sweepIndexes(run.owner, limit);
        nodesProcessed = Math.max(nodesProcessed, found);
        nodesModified += removed;
        if (removed === 0 || removed === found || !(await run.pause())) break;
      }
      const details = {
        stale_found: nodesProcessed,
        retired_staging_found: 0,
        stage_cleanup_blocked: false,
        stage_cleanup_reason: null,
      };
      return { nodesProcessed, nodesModified, errors: 0, details };
    },
  };
}

/** Entities per run, the newest. */
const LIMIT = 500;
const NOTE = "Snapshots are made when they are asked for; none is stored.";

/** Builds a snapshot of each entity and stores nothing. */
function snapshotGeneration(
  deps: Pick<EngineDeps<Graph & Upkeep>, "store" | "clock">,
): OrganizerJob {
  return {
    name: "snapshot_generation",
    work: async (run) => {
      const entities = await deps.store.queryNodes({
        owner: run.owner,
        nodeType: "entity",
        lifecycleStates: ["tentative", "stable"],
        oldestFirst: false,
        limit: LIMIT,
      });
      let nodesModified = 0;
      let errors = 0;
      for (const entity of entities) {
        if (!(await run.pause())) break;
        try {
          await snapshotOf(deps, entity, undefined);
          nodesModified += 1;
        } catch (error) {
          if (isOutOfReach(error)) throw error;
          errors += 1;
        }
      }
      return { nodesProcessed: entities.length, nodesModified, errors, details: { note: NOTE } };
    },
  };
}

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
async function snapshotOf(
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
