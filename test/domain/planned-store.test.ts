import { expect, test } from "bun:test";
import { openChecksummed } from "../../src/domain/checksummed.ts";
import { fromPlanRecord, planRecordId, toPlanRecord } from "../../src/domain/jobs.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { aNode, anEvent, at, freshId } from "../contract/samples.ts";

const ID = asUuid("01890a5d-ac96-774b-bcce-b302099a8057");

test("the record of a plan has the id that every version gave it", () => {
  expect(String(planRecordId(ID))).toBe("5e2f77d7-acc1-5737-9489-6876f36c0f15");
});

test("a plan is found again in its record, with the text that the node says otherwise than the event", () => {
  const event = anEvent({ id: ID, content: "What was said.", timestamp: at(3) });
  const node = aNode(event, { content: "What was meant.", metadata: { a: [1, null] } });
  const supersedes = [freshId(), freshId()];

  const record = toPlanRecord({ event, node, supersedes });

  expect(fromPlanRecord(record.payload)).toEqual({
    node,
    contentHash: event.contentHash,
    supersedes,
  });
  expect(record).toMatchObject({
    opType: "DIRECT_STORE_REQUESTED",
    targetId: ID,
    actorId: "store",
    namespaceId: event.scope,
    createdAt: at(3),
  });
  expect(openChecksummed(record.payload)).toMatchObject({ schema_version: 2, event_id: ID });
});

test("a plan without replaced memories does not mention any", () => {
  const event = anEvent();
  const { payload } = toPlanRecord({ event, node: aNode(event), supersedes: [] });
  const saved = openChecksummed(payload);
  expect(saved).toMatchObject({ schema_version: 1 });
  expect(Object.keys(saved)).not.toContain("supersedes");
  expect(fromPlanRecord(payload)?.supersedes).toEqual([]);
});
