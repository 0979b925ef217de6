import { describe, expect, test } from "bun:test";
import { at } from "../../contract/samples.ts";
import { amount, fact, put } from "../../engine/aggregate/claims-world.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

const STATE = { subject: "I", predicate: "spent", scope: "personal", valid_at: at(5) };
const COVERAGE = {
  stored_set_exhaustive: true,
  source_extraction_coverage: "unknown",
  real_world_coverage: "unknown",
  consistency: "complete_for_unchanged_store",
};
const FILTER = {
  subjects: [],
  predicates: [],
  objects: [],
  polarities: ["positive"],
  scopes: [],
  node_types: ["fact", "decision", "preference"],
  lifecycle_states: null,
  retrieval_mode: "default",
  event_time_from: null,
  event_time_to: null,
  valid_at: null,
  knowledge_at: null,
  group_limit: 1000,
  sample_limit: 10,
};

function post({ ask }: OpenedApp, path: string, body: unknown, key?: string) {
  return ask(path, { body, ...(key !== undefined && { key }) });
}

/** One fact of ada with an amount. */
async function remember({ store }: OpenedApp) {
  const spent = fact(["I", "spent", "$5.00"], { eventTime: at(2) }, amount("5.00", "$", "$5.00"));
  await put(store, [spent]);
  return { id: spent.id, event: spent.evidenceRefs[0] };
}

test("a count of claims, to the last key", async () => {
  const app = await open();
  const { id, event } = await remember(app);
  const { json } = await post(app, "/v1/assertions/aggregate", {
    user_id: "ada",
    query: { valid_at: "2026-01-01T01:00:05+01:00", group_by: ["subject", "object"] },
  });
  expect(json).toEqual({
    schema_version: 1,
    user_id: "ada",
    query: { ...FILTER, valid_at: at(5), group_by: ["subject", "object"] },
    scanned_nodes: 1,
    matched_records: 1,
    distinct_count: 1,
    groups: [
      {
        values: { subject: "I", object: "$5.00" },
        normalized_values: { subject: "i", object: "$5.00" },
        occurrence_count: 1,
        evidence_count: 1,
        sample_node_ids: [id],
        sample_evidence_refs: [event],
        samples_truncated: false,
        earliest_event_time: at(2),
        latest_event_time: at(2),
      },
    ],
    groups_truncated: false,
    ...COVERAGE,
    semantic_equivalence: "normalized_exact_only",
    exclusions: {},
  });
});

test("a sum from a question, to the last key", async () => {
  const app = await open();
  const { id, event } = await remember(app);
  const question = "What's the total I spent?";
  const { json } = await post(app, "/v1/quantities/aggregate-text", { user_id: "ada", question });
  const query = {
    ...FILTER,
    subjects: ["I"],
    predicate_prefixes: ["spend", "spent", "spending"],
    units: [],
    group_by: ["unit"],
  };
  expect(json).toEqual({
    schema_version: 1,
    plan: {
      schema_version: 1,
      question,
      status: "ready",
      reason: "matched_amount_question",
      action: "spent",
      query,
      assumptions: [
        "owner_bound",
        "first_person_subject_exact",
        "positive_default_epistemic",
        "predicate_token_prefix_family",
        "unit_groups_are_never_converted",
      ],
    },
    aggregation: {
      schema_version: 1,
      user_id: "ada",
      query,
      scanned_nodes: 1,
      matched_quantity_records: 1,
      distinct_count: 1,
      groups: [
        {
          values: { unit: "$" },
          normalized_values: { unit: "$" },
          value_count: 1,
          total: "5.00",
          minimum: "5.00",
          maximum: "5.00",
          evidence_count: 1,
          samples: [
            { node_id: id, value: "5.00", unit: "$", source_text: "$5.00", evidence_refs: [event] },
          ],
          samples_truncated: false,
          earliest_event_time: at(2),
          latest_event_time: at(2),
        },
      ],
      groups_truncated: false,
      ...COVERAGE,
      unit_conversion: "none",
      semantic_equivalence: "normalized_exact_and_predicate_prefix",
      exclusions: {},
    },
  });
});

test("an unsupported question has a plan without a query, and no sum", async () => {
  const app = await open();
  const question = "How much will I spend?";
  const { status, json } = await post(app, "/v1/quantities/aggregate-text", {
    user_id: "ada",
    question,
  });
  expect(status).toBe(200);
  expect(json).toEqual({
    schema_version: 1,
    plan: {
      schema_version: 1,
      question,
      status: "unsupported",
      reason: "unsupported_shape",
      action: null,
      query: null,
      assumptions: [],
    },
    aggregation: null,
  });
});

test("a contested state, to the last key", async () => {
  const app = await open();
  const { id, event } = await remember(app);
  const other = fact(["i", "Spent", "$7"], { createdAt: at(1), validFrom: at(1) });
  await put(app.store, [other]);
  await app.engine.contradict(id, other.id);
  const query = {
    ...STATE,
    valid_at: "2999-01-01T00:00:00Z",
    knowledge_at: "2999-01-01T00:00:00Z",
  };
  const { json } = await post(app, "/v1/assertions/state", { user_id: "ada", query });
  const canonical = "2999-01-01T00:00:00.000000Z";
  const [first, second] = await Promise.all([app.engine.getNode(id), app.engine.getNode(other.id)]);
  const entry = {
    node_type: "fact",
    subject: "I",
    predicate: "spent",
    polarity: "positive",
    epistemic_type: "asserted",
    source_type: "user_stated",
    lifecycle_state: "contested",
    confidence: 0.8,
    event_time: null,
    valid_to: null,
    superseded_by: null,
    current_candidate: true,
    exclusion_reasons: [],
  };
  const five = {
    ...entry,
    node_id: id,
    content: "I spent $5.00",
    object: "$5.00",
    event_time: at(2),
    created_at: at(0),
    updated_at: first?.updatedAt,
    valid_from: at(0),
    evidence_refs: [event],
    contradiction_node_ids: [other.id],
  };
  const seven = {
    ...entry,
    node_id: other.id,
    content: "i Spent $7",
    subject: "i",
    predicate: "Spent",
    object: "$7",
    created_at: at(1),
    updated_at: second?.updatedAt,
    valid_from: at(1),
    evidence_refs: other.evidenceRefs,
    contradiction_node_ids: [id],
  };
  const value = (object: string, node: string, cited: unknown) => ({
    object,
    polarity: "positive",
    normalized_object: object,
    normalized_polarity: "positive",
    candidate_count: 1,
    evidence_count: 1,
    sample_node_ids: [node],
    sample_evidence_refs: [cited],
    samples_truncated: false,
  });
  expect(json).toEqual({
    schema_version: 1,
    user_id: "ada",
    query: {
      subject: "I",
      predicate: "spent",
      scope: "personal",
      valid_at: canonical,
      knowledge_at: canonical,
      node_types: ["fact", "decision", "preference"],
      limit: 1000,
    },
    normalized_subject: "i",
    normalized_predicate: "spent",
    status: "contested",
    scanned_nodes: 2,
    matched_records: 2,
    current_candidate_count: 2,
    current_values: [value("$5.00", id, event), value("$7", other.id, other.evidenceRefs[0])],
    current_values_truncated: false,
    current_candidates: [seven, five],
    current_candidates_truncated: false,
    timeline: [five, seven],
    timeline_truncated: false,
    conflicts: [
      {
        edge_id: expect.any(String),
        source_node_id: other.id,
        target_node_id: id,
        confidence: 1,
        evidence_ref: null,
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        valid_from: expect.stringMatching(/\.\d{6}Z$/),
        valid_to: null,
        active_between_current_candidates: true,
      },
    ],
    conflict_count: 1,
    conflicts_truncated: false,
    exclusions: {},
    ...COVERAGE,
    semantic_equivalence: "normalized_exact_only",
    validity_semantics: "valid_from_inclusive_valid_to_exclusive",
    lifecycle_semantics: "current_graph_state",
    state_semantics: "eligible_claims_not_verified_truth",
    current_candidate_order: "confidence_then_ingestion_desc",
    timeline_order: "validity_then_ingestion_ascending",
    historical_coverage: {
      knowledge_at: canonical,
      semantics: "ingestion_cutoff",
      exact_snapshot: false,
      limitations: ["current_lifecycle_state", "current_derived_indexes", "mutations_not_replayed"],
    },
  });
});

describe("a bad query is 422 and names the field", () => {
  test.each<[path: string, body: object, detail: RegExp]>([
    [
      "assertions/aggregate",
      { query: { subjects: null } },
      /^query\.subjects: null is not a list$/,
    ],
    ["assertions/aggregate", { query: { units: [] } }, /^query\.units: is not a known key; the /],
    ["assertions/aggregate", { query: { group_by: ["unit"] } }, /^query\.group_by\[0\]: "unit" is/],
    [
      "assertions/aggregate",
      { query: { valid_at: "2026-01-01" } },
      /^query\.valid_at: .*time zone/,
    ],
    ["assertions/aggregate", { query: { subjects: [" "] } }, /^subjects\[0\]: must not be blank$/],
    ["quantities/aggregate", { query: { group_by: ["object"] } }, /^group_by: must contain unit/],
    ["assertions/state", { query: { ...STATE, scope: undefined } }, /^query\.scope: is required/],
  ])("%s %j", async (path, body, detail) => {
    const app = await open();
    const { status, json } = await post(app, `/v1/${path}`, { user_id: "ada", ...body });
    expect(status).toBe(422);
    expect(json).toEqual({ code: "invalid_argument", detail: expect.stringMatching(detail) });
  });
});
