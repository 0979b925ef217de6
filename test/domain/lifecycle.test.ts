import { describe, expect, test } from "bun:test";
import { LIFECYCLE_STATES, type LifecycleState } from "../../src/domain/enums.ts";
import {
  canReplace,
  isActive,
  LIFECYCLE_STEPS,
  type LifecycleStep,
  nextState,
  requireStep,
} from "../../src/domain/lifecycle.ts";
import { NODE_ID } from "../surface/fixtures.ts";
import { thrown } from "./thrown.ts";

/** Every state that each step leads to; what is missing is forbidden. */
const TABLE: Readonly<
  Record<LifecycleStep, Readonly<Partial<Record<LifecycleState, LifecycleState>>>>
> = {
  promote: { tentative: "stable" },
  archive: {
    tentative: "archived",
    stable: "archived",
    contested: "archived",
    superseded: "archived",
    deprecated: "archived",
  },
  deprecate: { contested: "deprecated" },
  supersede: { tentative: "superseded", stable: "superseded" },
  contradict: { tentative: "contested", stable: "contested" },
  win: { contested: "stable" },
  lose: { contested: "deprecated" },
};

// SAFETY: the keys of the table are its steps.
const STEPS = Object.keys(TABLE) as LifecycleStep[];
const CASES = STEPS.flatMap((step) => LIFECYCLE_STATES.map((from) => ({ step, from })));

test("the table has every step", () => {
  expect(STEPS.sort()).toEqual(Object.keys(LIFECYCLE_STEPS).sort() as LifecycleStep[]);
});

test.each(CASES)("$step from $from leads where the table says", ({ step, from }) => {
  const to = TABLE[step][from];
  expect(nextState(step, from)).toBe(to);
  const node = { id: NODE_ID, lifecycleState: from };
  if (to !== undefined) {
    expect(requireStep(step, node)).toBe(to);
    return;
  }
  const error = thrown(() => requireStep(step, node));
  const { action, to: goal } = LIFECYCLE_STEPS[step];
  expect(error.code).toBe("invalid_transition");
  expect(error.data).toEqual({ action, id: NODE_ID, from, to: goal });
  expect(error.message).toStartWith(
    `${action}: memory ${NODE_ID} is ${from}${from === goal && action !== "resolve" ? " already" : "; only a "}`,
  );
});

describe("a refusal", () => {
  test("names the only state that would do", () => {
    const node = { id: NODE_ID, lifecycleState: "contested" } as const;
    expect(thrown(() => requireStep("promote", node)).message).toBe(
      `promote: memory ${NODE_ID} is contested; only a tentative memory can become stable`,
    );
  });

  test("names all states that would do", () => {
    const node = { id: NODE_ID, lifecycleState: "contested" } as const;
    expect(thrown(() => requireStep("supersede", node)).message).toEndWith(
      "only a tentative or stable memory can become superseded",
    );
  });

  test("says that a memory is there already", () => {
    const node = { id: NODE_ID, lifecycleState: "archived" } as const;
    expect(thrown(() => requireStep("archive", node)).message).toBe(
      `archive: memory ${NODE_ID} is archived already`,
    );
  });
});

test("no path of steps leads back to a state", () => {
  const next = (from: LifecycleState) =>
    STEPS.flatMap((step) => nextState(step, from) ?? []).filter(
      // A contested memory that wins is stable again, and may be contested again: the one allowed circle.
      (to) => !(from === "contested" && to === "stable"),
    );
  const reached = (from: LifecycleState): LifecycleState[] =>
    next(from).flatMap((to) => [to, ...reached(to)]);
  for (const state of LIFECYCLE_STATES) expect(reached(state)).not.toContain(state);
});

test("tentative, stable and contested memories are active; the first two may replace others", () => {
  expect(LIFECYCLE_STATES.filter(isActive)).toEqual(["tentative", "stable", "contested"]);
  expect(LIFECYCLE_STATES.filter(canReplace)).toEqual(["tentative", "stable"]);
});
