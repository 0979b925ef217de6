import { expect, test } from "bun:test";
import { type MemoryNode, statedTime } from "../../src/domain/node.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";

test("a memory speaks of the time it names, else of the time it was stored", () => {
  const [createdAt, eventTime] = [fromEpochMicros(2), fromEpochMicros(1)];
  expect(statedTime({ createdAt, eventTime } as MemoryNode)).toBe(eventTime);
  expect(statedTime({ createdAt, eventTime: undefined } as MemoryNode)).toBe(createdAt);
});
