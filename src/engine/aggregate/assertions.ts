import { parseUserId } from "../../domain/arguments.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type {
  AssertionAggregation,
  AssertionGroup,
  AssertionQuery,
} from "../../domain/records/aggregation.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { AssertionQueryInput } from "./api.ts";
import { createClaimReader, statesOf } from "./eligible.ts";
import {
  addEvidence,
  beginEvidence,
  byDimension,
  createGroups,
  type Evidence,
  type Group,
  sortedIds,
} from "./groups.ts";
import { parseAssertionQuery } from "./parse-query.ts";
import { createExclusions, scanRecords } from "./scan.ts";

type Deps = Pick<EngineDeps<Graph>, "store" | "settings">;

type Occurrences = Evidence & { count: number; readonly nodeIds: Uuid[] };

/**
 * Counts and groups an owner's stored claims, exactly. Complete if nothing is written meanwhile. Reads every memory of the
 * requested types; holds one page, the groups shown, the keys of all groups and the events that each cites.
 * @throws SvcError invalid_argument; the reason of the signal once it is aborted
 */
export async function aggregateAssertions(
  deps: Deps,
  input: AssertionQueryInput,
): Promise<AssertionAggregation> {
  const query = parseAssertionQuery(input);
  const userId = parseUserId(input.userId);
  const readClaim = createClaimReader(query, deps.settings.unverifiedConfidenceThreshold);
  const exclusions = createExclusions();
  const groups = createGroups<Occurrences>(query.groupLimit, () => ({
    ...beginEvidence(),
    count: 0,
    nodeIds: [],
  }));
  let matchedRecords = 0;
  const visit = (node: MemoryNode) => {
    const read = readClaim(node);
    if (typeof read === "string") {
      exclusions.add(read);
      return;
    }
    matchedRecords += 1;
    const { claim, normal } = read;
    const group = groups.of(
      query.groupBy.map((dimension) => claim[dimension]),
      query.groupBy.map((dimension) => normal[dimension]),
    );
    if (group === undefined) return;
    group.count += 1;
    if (group.nodeIds.length < query.sampleLimit) group.nodeIds.push(node.id);
    addEvidence(group, node);
  };
  const scan = { ...query, userId, lifecycleStates: statesOf(query), signal: input.signal };
  const scannedNodes = await scanRecords(deps, scan, visit);
  return {
    schemaVersion: 1,
    userId,
    query,
    scannedNodes,
    matchedRecords,
    distinctCount: groups.count(),
    groups: groups.first().map((group) => toGroup(group, query)),
    groupsTruncated: groups.count() > query.groupLimit,
    storedSetExhaustive: true,
    sourceExtractionCoverage: "unknown",
    semanticEquivalence: "normalized_exact_only",
    realWorldCoverage: "unknown",
    consistency: "complete_for_unchanged_store",
    exclusions: exclusions.counts(),
  };
}

function toGroup(
  { values, normal, gathered }: Group<Occurrences>,
  { groupBy, sampleLimit }: AssertionQuery,
): AssertionGroup {
  const { count, nodeIds, events } = gathered;
  return {
    values: byDimension(groupBy, values),
    normalizedValues: byDimension(groupBy, normal),
    occurrenceCount: count,
    evidenceCount: events.size(),
    sampleNodeIds: sortedIds(nodeIds),
    sampleEvidenceRefs: events.smallest(sampleLimit),
    samplesTruncated: count > sampleLimit || events.size() > sampleLimit,
    earliestEventTime: gathered.earliest,
    latestEventTime: gathered.latest,
  };
}
