import { describe, expect, test } from "bun:test";
import { createIdSource } from "../../../src/adapters/system/system.ts";
import { checksummed, openChecksummed } from "../../../src/domain/checksummed.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { AnswerCitationsInput, ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import {
  type CitationDeps,
  getAnswerCitations,
  listAnswerCitations,
  recordAnswerCitations,
} from "../../../src/engine/receipts/citations.ts";
import { createReceiptKeeper } from "../../../src/engine/receipts/keep.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import type { AuditRecord } from "../../../src/ports/store/records.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { altered, expectInvalid, testClock, useEngines } from "../engines.ts";
import { aRetrieval, SURROUNDINGS } from "./retrievals.ts";

const engines = useEngines();
const OWNER = "conv-26";
const ID = "01900000-0000-7000-8000-00000000000a";

type Opened = {
  readonly deps: CitationDeps & { readonly store: Store };
  readonly store: Store;
  readonly requestId: Uuid;
  /** Results in rank order; the first two are in the context. */
  readonly nodes: readonly Uuid[];
};

/** A retrieval whose receipt is in a real pack. */
async function open(
  change: (material: ReceiptMaterial) => ReceiptMaterial = (m) => m,
): Promise<Opened> {
  const { store } = await engines.open();
  const clock = testClock();
  const settings = {
    ...SURROUNDINGS.settings,
    receiptRetentionDays: undefined,
    receiptDetail: "full",
  } as const;
  const receipts = createReceiptKeeper({ ...SURROUNDINGS, settings, store, clock, warn: () => {} });
  const material = change(aRetrieval({ seed: 4, found: 3, neighbours: 0, packed: 2 }));
  await receipts.keep(material);
  return {
    deps: { store, receipts, clock, ids: createIdSource() },
    store,
    requestId: material.metadata.requestId,
    nodes: material.results.map(({ node }) => node.id),
  };
}

async function failure(call: Promise<unknown>): Promise<SvcError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SvcError)) throw new Error(`no SvcError: ${String(error)}`);
  return error;
}

describe("recordAnswerCitations", () => {
  test("records what was cited, with what it was checked against", async () => {
    const { deps, requestId, nodes } = await open();
    const input: AnswerCitationsInput = {
      citationId: ID,
      requestId,
      answerId: "answer 1",
      citedNodeIds: [nodes[1]!, nodes[0]!],
      answerSha256: "a".repeat(64),
      method: "human_verified",
    };
    const record = await recordAnswerCitations(deps, input, OWNER);
    const kept = await deps.receipts.read(requestId, OWNER);
    expect(record).toEqual({
      schemaVersion: 1,
      citationId: ID as Uuid,
      requestId,
      answerId: "answer 1",
      citedNodeIds: [nodes[1]!, nodes[0]!],
      answerSha256: "a".repeat(64),
      method: "human_verified",
      userId: OWNER,
      recordedAt: record.recordedAt,
      receiptChecksum: kept!.checksum,
      contextSha256: kept!.receipt.contextSha256,
    });
    expect(record.recordedAt).toStartWith("2026-03-18T12:00:00");
    expect(await getAnswerCitations(deps, ID, OWNER)).toEqual(record);
  });

  test("takes a new id, no citations and the model's word unless told otherwise", async () => {
    const { deps, requestId } = await open();
    const record = await recordAnswerCitations(deps, { requestId, answerId: "a" }, OWNER);
    expect(record).toMatchObject({ citedNodeIds: [], method: "model_reported" });
    expect(record.answerSha256).toBeUndefined();
    expect(record.citationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test("keeps the record as a checksummed operation of its owner", async () => {
    const { deps, store, requestId } = await open();
    await recordAnswerCitations(deps, { citationId: ID, requestId, answerId: "a" }, OWNER);
    const id = uuidV5("url", `["svc:answer-citations:v1","${OWNER}","${ID}"]`);
    expect(await store.auditRecord(id, ALL_OWNERS)).toMatchObject({
      opType: "ANSWER_CITATIONS_RECORDED",
      targetId: ID,
      actorId: OWNER,
      namespaceId: OWNER,
      payload: {
        record: expect.stringContaining('"schema_version":1'),
        sha256: expect.any(String),
      },
    });
  });

  test("returns the first record to an exact retry, also once the receipt is gone", async () => {
    const { deps, requestId, nodes } = await open();
    const input = { citationId: ID, requestId, answerId: "a", citedNodeIds: [nodes[0]!] };
    const first = await recordAnswerCitations(deps, input, OWNER);
    expect(await recordAnswerCitations(deps, input, OWNER)).toEqual(first);
    const without = { ...deps, receipts: { read: async () => undefined } };
    expect(await recordAnswerCitations(without, input, OWNER)).toEqual(first);
  });

  test("refuses the same id with another answer, other citations, another hash or method", async () => {
    const { deps, requestId, nodes } = await open();
    const input = { citationId: ID, requestId, answerId: "a", citedNodeIds: [nodes[0]!] };
    const first = await recordAnswerCitations(deps, input, OWNER);
    for (const change of [
      { answerId: "b" },
      { citedNodeIds: [] },
      { answerSha256: "b".repeat(64) },
      { method: "application_verified" as const },
    ]) {
      const error = await failure(recordAnswerCitations(deps, { ...input, ...change }, OWNER));
      expect([change, error.code]).toEqual([change, "request_conflict"]);
      expect(error.data).toEqual({ citation_id: ID });
    }
    expect(await getAnswerCitations(deps, ID, OWNER)).toEqual(first);
  });

  test("lets two owners use the same id", async () => {
    const { deps, requestId } = await open();
    const record = await recordAnswerCitations(
      deps,
      { citationId: ID, requestId, answerId: "a" },
      OWNER,
    );
    const error = await failure(
      recordAnswerCitations(deps, { citationId: ID, requestId, answerId: "a" }, "eve"),
    );
    expect(error).toMatchObject({ code: "not_found", data: { kind: "retrieval", id: requestId } });
    expect(await getAnswerCitations(deps, ID, "eve")).toBeUndefined();
    expect(await getAnswerCitations(deps, ID, OWNER)).toEqual(record);
  });

  test("refuses a memory that was not among the results", async () => {
    const { deps, requestId } = await open();
    const error = await failure(
      recordAnswerCitations(deps, { requestId, answerId: "a", citedNodeIds: [ID] }, OWNER),
    );
    expect(error.code).toBe("bad_citation");
    expect(error.message).toBe(`cited_node_ids: ${ID} was not among the results of this retrieval`);
  });

  test("refuses a result that was not in the context", async () => {
    const { deps, requestId, nodes } = await open();
    const error = await failure(
      recordAnswerCitations(deps, { requestId, answerId: "a", citedNodeIds: [nodes[2]!] }, OWNER),
    );
    expect(error.code).toBe("bad_citation");
    expect(error.message).toContain("was not in the context");
  });

  test("refuses a record that was in the context without its text", async () => {
    const { deps, requestId, nodes } = await open((material) => ({
      ...material,
      bundle: {
        ...material.bundle,
        sections: new Map(
          [...material.bundle.sections].map(([name, records]) => [
            name,
            records.map((record) => ({ ...record, representation: "reference" as const })),
          ]),
        ),
      },
    }));
    const error = await failure(
      recordAnswerCitations(deps, { requestId, answerId: "a", citedNodeIds: [nodes[0]!] }, OWNER),
    );
    expect(error.code).toBe("bad_citation");
    expect(error.message).toContain("was in the context without its text");
    expect(await listAnswerCitations(deps, { userId: OWNER })).toEqual([]);
  });

  const REFUSED = [
    ["an unknown key", { note: "x" }, "note"],
    ["an id that is no UUID", { citationId: "7" }, "citation_id"],
    ["a request that is no UUID", { requestId: "7" }, "request_id"],
    ["a missing answer", { answerId: undefined }, "answer_id"],
    ["a blank answer", { answerId: " \n" }, "answer_id"],
    ["an answer of 513 characters", { answerId: "😀".repeat(513) }, "answer_id"],
    ["citations that are no list", { citedNodeIds: ID }, "cited_node_ids"],
    ["1001 citations", { citedNodeIds: Array(1001).fill(ID) }, "cited_node_ids"],
    ["a citation twice", { citedNodeIds: [ID, ID.toUpperCase()] }, "cited_node_ids"],
    ["a citation that is no UUID", { citedNodeIds: [ID, "7"] }, "cited_node_ids[1]"],
    ["a hash in capitals", { answerSha256: "A".repeat(64) }, "answer_sha256"],
    ["a short hash", { answerSha256: "a".repeat(63) }, "answer_sha256"],
    ["an unknown method", { method: "guessed" }, "method"],
  ] satisfies readonly (readonly [name: string, change: object, field: string])[];

  test("refuses what is malformed before anything is read", async () => {
    const { deps, requestId } = await open();
    const unread = { ...deps, receipts: { read: () => Promise.reject(new Error("read")) } };
    for (const [, change, field] of REFUSED) {
      const input = { requestId, answerId: "a", ...change } as AnswerCitationsInput;
      await expectInvalid(recordAnswerCitations(unread, input, OWNER), { field });
    }
  });
});

describe("getAnswerCitations", () => {
  test("finds nothing under an unknown id, and refuses what is none", async () => {
    const { deps } = await open();
    expect(await getAnswerCitations(deps, ID, OWNER)).toBeUndefined();
    await expectInvalid(getAnswerCitations(deps, "7", OWNER), { field: "citation_id" });
  });

  test.each([
    {
      name: "was changed",
      damage: ({ payload }: AuditRecord) => ({
        ...payload,
        record: `${String(payload["record"])} `,
      }),
    },
    {
      name: "is of another form",
      damage: () => ({
        record: "{}",
        sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
      }),
    },
  ])("refuses a record that $name", async ({ damage }) => {
    const { deps, store, requestId } = await open();
    await recordAnswerCitations(deps, { citationId: ID, requestId, answerId: "a" }, OWNER);
    const damaged = altered(store, {
      auditRecord: async (id) => {
        const operation = await store.auditRecord(id, ALL_OWNERS);
        return operation && { ...operation, payload: damage(operation) };
      },
    });
    const error = await failure(getAnswerCitations({ store: damaged }, ID, OWNER));
    expect(error.code).toBe("storage_failed");
  });
});

describe("listAnswerCitations", () => {
  const idAt = (index: number) => `01900000-0000-7000-8000-${String(index).padStart(12, "0")}`;

  async function recorded(count: number): Promise<Opened> {
    const opened = await open();
    for (let index = 0; index < count; index += 1) {
      await recordAnswerCitations(
        opened.deps,
        { citationId: idAt((index * 7) % count), requestId: opened.requestId, answerId: "a" },
        OWNER,
      );
    }
    return opened;
  }

  test("is by ascending id, from behind an id, as long as wished", async () => {
    const { deps } = await recorded(20);
    const all = await listAnswerCitations(deps, { userId: OWNER });
    expect(all.map(({ citationId }) => citationId as string)).toEqual(
      Array.from({ length: 20 }, (_, index) => idAt(index)),
    );
    const page = await listAnswerCitations(deps, { userId: OWNER, afterId: idAt(4), limit: 3 });
    expect(page.map(({ citationId }) => citationId as string)).toEqual([5, 6, 7].map(idAt));
    expect(await listAnswerCitations(deps, { userId: OWNER, afterId: idAt(19) })).toEqual([]);
  });

  test("goes on where a page of the log ends", async () => {
    const { deps, store, requestId } = await open();
    await recordAnswerCitations(deps, { citationId: idAt(0), requestId, answerId: "a" }, OWNER);
    const {
      items: [first],
    } = await store.auditRecordsOf({
      opType: "ANSWER_CITATIONS_RECORDED",
      userId: OWNER,
      afterTargetId: undefined,
      limit: 1,
    });
    const record = openChecksummed(first!.payload);
    const operations = Array.from({ length: 1100 }, (_, index) => {
      const citationId = idAt(index + 1);
      return {
        ...first!,
        id: uuidV5("url", citationId),
        targetId: citationId,
        payload: checksummed({ ...record, citation_id: citationId }),
      };
    });
    await store.admit({ events: [], auditRecords: operations, leaseJobs: false });
    const page = await listAnswerCitations(deps, { userId: OWNER, afterId: idAt(98), limit: 1000 });
    expect(page.map(({ citationId }) => citationId as string)).toEqual(
      Array.from({ length: 1000 }, (_, index) => idAt(index + 99)),
    );
  });
});
