import { expect, test } from "bun:test";
import { LIMITS } from "../../src/domain/arguments.ts";
import { nearnessTo } from "../../src/domain/same-saying.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { BARE_NODE, EVENT_ID } from "../surface/fixtures.ts";

test("of a long text the beginning is compared, so that nobody waits for megabytes", () => {
  const beginning = "The invoice of spring is paid. ".repeat(LIMITS.wordingChars / 31 + 1);
  const fresh = { ...BARE_NODE, content: `${beginning}${"one other end ".repeat(1000)}` };
  const known = { ...BARE_NODE, id: asUuid(EVENT_ID), content: `${beginning}${"2 ".repeat(9)}` };
  expect(nearnessTo(fresh)(known, 0.75)).toBeCloseTo(0.95);
});
