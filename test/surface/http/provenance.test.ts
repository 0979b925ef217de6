import { describe, expect, test } from "bun:test";
import { checksummed } from "../../../src/domain/checksummed.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  freshId,
  put,
} from "../../contract/samples.ts";
import { anEdge, connect } from "../../engine/inspect/edges.ts";
import { useApps } from "./engine-app.ts";

const { open } = useApps();

/** A claim of ada with a source, a missing one, a contradiction, and three operations. */
async function filled(auth = {}) {
  const app = await open(auth);
  const event = anEvent({ content: "I prefer tea.", timestamp: at(1) });
  const gone = freshId();
  const claim = aNode(event, { evidenceRefs: [event.id, gone], lifecycleState: "contested" });
  await app.store.admit(anAdmission([event]));
  await app.store.materialize([aMaterialization(event, claim)]);
  const [other] = await put(app.store, { content: "I prefer coffee." });
  const edge = anEdge(other, claim, {
    edgeType: "contradicts",
    validFrom: at(2),
    validTo: at(9),
    provenanceEventId: event.id,
    metadata: { by: "ada" },
    createdAt: at(3),
  });
  const plain = anEdge(claim, other, { edgeType: "contradicts", createdAt: at(4) });
  await connect(app.store, edge, plain);
  const operations = [4, 5, 6].map((second) =>
    anAuditRecord({
      opType: "REINFORCE",
      targetId: claim.id,
      payload: checksummed({ version: 2 }),
      namespaceId: second === 6 ? undefined : "personal",
      createdAt: at(second),
    }),
  );
  await app.store.admit(anAdmission([], { auditRecords: operations }));
  return { app, event, gone, claim, edge, plain, operations };
}

describe("GET /v1/nodes/{node_id}/provenance", () => {
  test("answers with memory, sources, contradictions and a page of operations", async () => {
    const { app, event, gone, claim, edge, plain, operations } = await filled();
    const { json: node } = await app.ask(`/v1/nodes/${claim.id}`);
    const { json: source } = await app.ask(`/v1/events/${event.id}`);
    const wires = operations.map(({ id, payload, createdAt, namespaceId }) => ({
      id,
      op_type: "REINFORCE",
      target_id: claim.id,
      payload: { record: '{"version":2}', sha256: payload["sha256"] },
      actor_id: "ada",
      namespace_id: namespaceId ?? null,
      created_at: createdAt,
    }));

    const { status, json } = await app.ask(`/v1/nodes/${claim.id}/provenance`);

    expect(status).toBe(200);
    expect(json).toEqual({
      schema_version: 1,
      node,
      evidence_events: [source],
      missing_evidence_refs: [gone],
      operations: wires,
      contradiction_edges: [
        {
          id: edge.id,
          source_id: edge.sourceId,
          target_id: claim.id,
          edge_type: "contradicts",
          user_id: "ada",
          confidence: 1,
          valid_from: "2026-01-01T00:00:02.000000Z",
          valid_to: "2026-01-01T00:00:09.000000Z",
          provenance_event_id: event.id,
          metadata: { by: "ada" },
          created_at: "2026-01-01T00:00:03.000000Z",
        },
        {
          id: plain.id,
          source_id: claim.id,
          target_id: edge.sourceId,
          edge_type: "contradicts",
          user_id: "ada",
          confidence: 1,
          valid_from: "2026-01-01T00:00:00.000000Z",
          valid_to: null,
          provenance_event_id: null,
          metadata: null,
          created_at: "2026-01-01T00:00:04.000000Z",
        },
      ],
      next_operation_cursor: null,
    });
    expect(Object.keys(json)).toEqual([
      "schema_version",
      "node",
      "evidence_events",
      "missing_evidence_refs",
      "operations",
      "contradiction_edges",
      "next_operation_cursor",
    ]);

    const first = await app.ask(`/v1/nodes/${claim.id}/provenance?operation_limit=2`);
    const cursor = `${first.json["next_operation_cursor"]}`;
    expect(first.json).toEqual({
      ...json,
      operations: wires.slice(0, 2),
      next_operation_cursor: cursor,
    });
    expect(Buffer.from(cursor, "base64url").toString()).toBe(
      JSON.stringify([at(5), operations[1]?.id]),
    );
    const second = await app.ask(
      `/v1/nodes/${claim.id}/provenance?operation_limit=2&operation_cursor=${cursor}`,
    );
    expect(second).toEqual({ status: 200, json: { ...json, operations: wires.slice(2) } });
  });

  test("has no records about the event or about what others named like it", async () => {
    const { ask, engine } = await open();
    const { json: stored } = await ask("/v1/store", { body: { content: "tea", user_id: "ada" } });
    await engine.ingestFastMany({
      items: [{ content: "x" }],
      userId: "bob",
      requestId: `${stored["node_id"]}`,
    });

    const { json } = await ask(`/v1/nodes/${stored["node_id"]}/provenance`);

    // The record of a store is about its event; that of a batch of bob about a request of his.
    expect(json).toMatchObject({
      evidence_events: [{ id: stored["event_id"], content: "tea" }],
      missing_evidence_refs: [],
      operations: [],
      contradiction_edges: [],
      next_operation_cursor: null,
    });
  });
});
