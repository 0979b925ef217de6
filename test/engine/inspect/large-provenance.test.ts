import { expect, test } from "bun:test";
import { LIMITS } from "../../../src/domain/arguments.ts";
import { aNode, anAdmission, anAuditRecord, anEvent, at, freshId } from "../../contract/samples.ts";
import { useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

/** More than a third of what a page may hold. */
const LARGE = " ".repeat(LIMITS.pageChars / 3 + 1);

test("a provenance of more text than a page holds shows a part, and tells exactly what is missing", async () => {
  const { engine, store, deps } = await open({ embedder: wordEmbedder() });
  const events = Array.from({ length: 5 }, () => anEvent({ content: LARGE }));
  const foreign = anEvent({ userId: "bob" });
  const unknown = freshId();
  const source = events[0] ?? foreign;
  const evidenceRefs = [...events.map(({ id }) => id), foreign.id, unknown];
  const node = aNode(source, { content: "tea", evidenceRefs });
  const operations = [
    ...Array.from({ length: 5 }, (_, second) =>
      anAuditRecord({
        opType: "LIFECYCLE_CHANGED",
        targetId: node.id,
        payload: { note: LARGE },
        createdAt: at(second),
      }),
    ),
    ...Array.from({ length: 30 }, () => anAuditRecord({ targetId: node.id, createdAt: at(9) })),
  ];
  await store.admit(anAdmission([...events, foreign], { auditRecords: operations }));
  const vector = await deps.embedder.embedDocument("tea");
  await store.addNodes([{ node, vector, at: at(1) }]);

  const pages: number[] = [];
  let operationCursor: string | undefined;
  do {
    const found = await engine.getProvenance(node.id, { userId: "ada", operationCursor });
    expect(found?.evidenceEvents).toEqual(events.slice(0, 2));
    expect(found?.missingEvidenceRefs).toEqual([foreign.id, unknown]);
    pages.push(found?.operations.length ?? 0);
    operationCursor = found?.nextOperationCursor;
  } while (operationCursor !== undefined);

  expect(pages).toEqual([2, 2, 1]);
});
