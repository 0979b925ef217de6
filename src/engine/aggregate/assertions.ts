import { parseUserId } from "../../domain/arguments.ts";
import type {
  AssertionAggregation,
  AssertionGroup,
  AssertionQuery,
} from "../../domain/records/aggregation.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { AssertionQueryInput } from "./api.ts";
import { createClaimReader } from "./eligible.ts";
import {
  addSample,
  byDimension,
  type Group,
  noneSampled,
  type Sampled,
  sortedIds,
} from "./groups.ts";
import { parseAssertionQuery } from "./parse-query.ts";
import { groupRecords } from "./scan.ts";

type Deps = Pick<EngineDeps<Graph>, "store" | "settings">;

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
  const { matched, groups, counted } = await groupRecords(deps, {
    ...query,
    userId,
    signal: input.signal,
    read: createClaimReader(query, deps.settings.unverifiedConfidenceThreshold),
    begin: noneSampled,
    valuesOf: ({ claim, normal }) => [
      query.groupBy.map((dimension) => claim[dimension]),
      query.groupBy.map((dimension) => normal[dimension]),
    ],
    add: (group, node) => addSample(group, node, query.sampleLimit),
  });
  return {
    schemaVersion: 1,
    userId,
    query,
    matchedRecords: matched,
    groups: groups.map((group) => toGroup(group, query)),
    semanticEquivalence: "normalized_exact_only",
    ...counted,
  };
}

function toGroup(
  { values, normal, gathered }: Group<Sampled>,
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
