import { describe, expect, test } from "bun:test";
import { ERROR_CATALOGUE, type ErrorCode, SvcError } from "../../../src/domain/errors.ts";
import { toolsOf } from "../../../src/surface/mcp/tool-list.ts";
import { explain } from "../../../src/surface/mcp/tools.ts";
import { fakeEngine } from "../fake-engine.ts";
import { EVENT_ID } from "../fixtures.ts";
import { callerOf } from "./served-tools.ts";
import { openSession } from "./session.ts";

const missing = (kind: string) => new SvcError("not_found", "x", { kind, id: EVENT_ID });

describe("after a failure a model is told", () => {
  test.each<{ error: unknown; told: string }>([
    { error: missing("node"), told: "gone. Find the id with memory_retrieve." },
    {
      error: missing("retrieval_receipt"),
      told: "gone. Take the request_id from the answer of memory_retrieve.",
    },
    {
      error: new SvcError("request_conflict", "x"),
      told: "gone. Use another UUID for another change.",
    },
    { error: new SvcError("storage_busy", "x"), told: "gone. Call again." },
    { error: new SvcError("invalid_argument", "x"), told: "gone" },
    { error: missing("unicorn"), told: "gone" },
    { error: new TypeError("x"), told: "gone" },
  ])("$told", ({ error, told }) => {
    expect(explain(error, "gone")).toBe(told);
  });

  test("nothing twice where the message ends a sentence", () => {
    expect(explain(new SvcError("storage_busy", "x"), "Gone.")).toBe("Gone. Call again.");
  });

  test("names of tools that there are, and of the core set for what its tools can miss", () => {
    const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
    const kinds = ["event", "retrieval", "extraction", "extraction_status", "answer_citations"];
    const named = (errors: readonly SvcError[]) =>
      errors.flatMap((error) => explain(error, "").match(/memory_\w+/g) ?? []);
    const all = toolsOf("full").map(({ tool }) => tool);
    const core = toolsOf("core").map(({ tool }) => tool);
    const others = named([...codes.map((code) => new SvcError(code, "x")), ...kinds.map(missing)]);
    expect(others.filter((tool) => !all.includes(tool))).toEqual([]);
    expect(named(["node", "event"].map(missing)).filter((tool) => !core.includes(tool))).toEqual(
      [],
    );
  });
});

test("an accepted and unfinished memory is an error that says not to store it again", async () => {
  const failure = new SvcError("materialization_failed", "the memory is still to be built", {
    event_id: EVENT_ID,
    reason_code: "storage_busy",
  });
  const engine = fakeEngine({ storeWithReceipt: () => Promise.reject(failure) });
  const session = await openSession(() => Promise.resolve(engine), { boundUserId: "ada" });
  const { isError, structured, text } = await callerOf(session).call("memory_store", {
    content: "x",
  });
  expect(isError).toBe(false);
  expect(structured).toEqual({
    error: `the memory is still to be built. The text is safe and is indexed later: do not store it again. event_id ${EVENT_ID}`,
    accepted: true,
    event_id: EVENT_ID,
    reason_code: "storage_busy",
  });
  expect(text).toBe(String(structured["error"]));
  await session.leave();
});
