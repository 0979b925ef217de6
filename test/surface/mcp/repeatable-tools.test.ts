import { expect, test } from "bun:test";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { repeatableTools } from "../../../src/surface/mcp/shown-schemas.ts";

test("tools that read, or change something once, may be called again", () => {
  const { tools } = repeatableTools();
  expect(tools).toContain("memory_retrieve");
  expect(tools).toContain("memory_archive_node");
  const adding = OPERATIONS.flatMap(({ mcp }) => mcp ?? []).filter(
    ({ annotations }) => !annotations.readOnlyHint && !annotations.idempotentHint,
  );
  expect(adding.filter(({ tool }) => tools.includes(tool))).toEqual([]);
});

test("tools that add may be called again with the request_id that names the call, not with that of a retrieval", () => {
  const { byRequestId } = repeatableTools();
  expect(byRequestId).toContain("memory_store");
  expect(byRequestId).toContain("memory_ingest_fast_many");
  expect(byRequestId).not.toContain("memory_record_answer_citations");
});
