import { expect, test } from "bun:test";
import { nodeForm } from "../../../src/domain/node.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import { eventView } from "../../../src/surface/contract/nodes.ts";
import { BARE_EVENT, BARE_NODE } from "../fixtures.ts";
import { toldJson } from "../told.ts";

test("a node has its 26 keys in order, null for what is absent", () => {
  const wire = toldJson(nodeForm, BARE_NODE);
  expect(Object.keys(wire).join(" ")).toBe(
    "id user_id session_id node_type content lifecycle_state confidence salience confidence_base salience_base " +
      "reinforcement_boost last_reinforced_at decay_profile epistemic_type source_type scope metadata created_at " +
      "updated_at event_time valid_from valid_to ttl_days superseded_by evidence_refs pinned",
  );
  expect(wire.valid_to).toBeNull();
  expect(wire.metadata).toBeNull();
  expect(wire.created_at).toBe("2026-01-02T03:04:05.000006Z");
  expect(schemaOf(nodeForm).parse(wire)).toEqual(wire);
});

test("an event has its 12 keys in order", () => {
  const wire = toldJson(eventView, BARE_EVENT);
  expect(Object.keys(wire).join(" ")).toBe(
    "id user_id session_id scope created_at updated_at timestamp event_time role content content_hash metadata",
  );
  expect(wire.updated_at).toBe(wire.created_at);
  expect(schemaOf(eventView).parse(wire)).toEqual(wire);
});
