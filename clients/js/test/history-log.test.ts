import { expect, test } from "bun:test";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { type Control, controlMetadata, replay } from "../src/history-log.ts";

const idOf = (number: number) => asUuid(`00000000-0000-7000-8000-00000000000${number}`);

/** An event of the microsecond `at`. */
function event(number: number, at: number, metadata?: JsonObject): MemoryEvent {
  return {
    id: idOf(number),
    userId: "anna",
    sessionId: "s",
    scope: "personal",
    role: "user",
    content: `${number}`,
    contentHash: "",
    metadata,
    eventTime: undefined,
    timestamp: asInstant(`2026-01-01T00:00:00.00000${at}Z`),
  };
}

const control = (number: number, at: number, what: Control) =>
  event(number, at, controlMetadata(what));
const shown = (...events: readonly MemoryEvent[]) =>
  replay(events).map(({ content }) => Number(content));

test("messages of the same microsecond are in the order of their ids", () => {
  expect(shown(event(3, 1), event(1, 1), event(2, 1), event(4, 0))).toEqual([4, 1, 2, 3]);
});

test("a clear of the same microsecond removes what has a smaller id, and nothing else", () => {
  expect(shown(event(3, 1), control(2, 1, { operation: "clear" }), event(1, 1))).toEqual([3]);
  expect(shown(control(2, 1, { operation: "clear" }), event(1, 2))).toEqual([1]);
});

test("a delete removes its target if that came before it, and ignores an unknown one", () => {
  const of = (number: number): Control => ({ operation: "delete", targetEventId: idOf(number) });
  expect(shown(event(1, 1), event(2, 2), control(3, 3, of(1)))).toEqual([2]);
  expect(shown(event(1, 4), control(3, 3, of(1)))).toEqual([1]);
  expect(shown(event(1, 1), control(3, 3, of(9)))).toEqual([1]);
});

test("the last of several clears counts, in whatever order events are given", () => {
  const clear = (number: number, at: number) => control(number, at, { operation: "clear" });
  expect(shown(clear(5, 5), event(6, 6), event(4, 4), clear(2, 2), event(1, 1))).toEqual([6]);
});
