import { fromDate, type Instant, parseInstant } from "../lib/instant.ts";
import type { Uuid } from "../lib/uuid.ts";
import { ACTIVE_STATES, type LifecycleState } from "./enums.ts";
import { invalid, SvcError } from "./errors.ts";
import type { MemoryNode } from "./node.ts";

/** A state transition: its action, the states it may start from, and its target. */
type Step = {
  readonly action: "promote" | "archive" | "deprecate" | "supersede" | "contradict" | "resolve";
  readonly from: readonly LifecycleState[];
  readonly to: LifecycleState;
};

/** All transitions. States only move forwards; none leaves `archived`. */
export const LIFECYCLE_STEPS = {
  promote: { action: "promote", from: ["tentative"], to: "stable" },
  archive: {
    action: "archive",
    from: ["tentative", "stable", "contested", "superseded", "deprecated"],
    to: "archived",
  },
  /** For a contested claim that has lost its confidence. */
  deprecate: { action: "deprecate", from: ["contested"], to: "deprecated" },
  supersede: { action: "supersede", from: ["tentative", "stable"], to: "superseded" },
  contradict: { action: "contradict", from: ["tentative", "stable"], to: "contested" },
  /** The claim that a resolution upholds. */
  win: { action: "resolve", from: ["contested"], to: "stable" },
  /** The claim that a resolution rejects. */
  lose: { action: "resolve", from: ["contested"], to: "deprecated" },
} as const satisfies Readonly<Record<string, Step>>;
export type LifecycleStep = keyof typeof LIFECYCLE_STEPS;

/** The state after a transition; undefined if not allowed. */
export function nextState(step: LifecycleStep, from: LifecycleState): LifecycleState | undefined {
  const { from: allowed, to }: Step = LIFECYCLE_STEPS[step];
  return allowed.includes(from) ? to : undefined;
}

/** The state of a memory after a transition. @throws SvcError invalid_transition naming action, memory and both states */
export function requireStep(
  step: LifecycleStep,
  { id, lifecycleState: from }: Pick<MemoryNode, "id" | "lifecycleState">,
): LifecycleState {
  const next = nextState(step, from);
  if (next !== undefined) return next;
  const { action, from: allowed, to }: Step = LIFECYCLE_STEPS[step];
  // A resolution needs a contradiction, whatever the state.
  const isThere = from === to && action !== "resolve";
  const why = isThere ? " already" : `; only a ${eitherOf(allowed)} memory can become ${to}`;
  throw new SvcError("invalid_transition", `${action}: memory ${id} is ${from}${why}`, {
    action,
    id,
    from,
    to,
  });
}

/** Whether memories of this state take part in default queries and in retrieval. */
export function isActive(state: LifecycleState): boolean {
  return ACTIVE_STATES.some((active) => active === state);
}

export function canReplace(state: LifecycleState): boolean {
  return state === "tentative" || state === "stable";
}

function eitherOf(states: readonly LifecycleState[]): string {
  const last = states.at(-1) ?? "";
  return states.length < 2 ? last : `${states.slice(0, -1).join(", ")} or ${last}`;
}

/** What callers may pass for a moment: ISO 8601 text with an offset, or a Date. */
export type InstantInput = string | Date;

/**
 * Reads a moment.
 * @throws SvcError invalid_argument if it is malformed or has no offset
 */
export function parseInstantInput(value: unknown, field: string): Instant | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw invalid(field, "is an invalid date");
    const year = value.getUTCFullYear();
    if (year < 1 || year > 9999) throw invalid(field, `the year ${year} is not within 1 to 9999`);
    return fromDate(value);
  }
  if (typeof value !== "string") throw invalid(field, "must be ISO 8601 text");
  const parsed = parseInstant(value);
  if (parsed === "naive") {
    const text = value.trim();
    const example = `${text}${/\d:\d/.test(text) ? "" : "T00:00:00"}Z`;
    throw invalid(field, `${JSON.stringify(text)} has no time zone; write for example ${example}`);
  }
  if (parsed === "malformed") {
    throw invalid(field, `${JSON.stringify(value.slice(0, 80))} is not an ISO 8601 date and time`);
  }
  return parsed.instant;
}

/**
 * Checks a validity interval `[from, to)`: an end needs an explicit, strictly earlier start.
 * @throws SvcError invalid_argument
 */
export function requireInterval(from: Instant | undefined, to: Instant | undefined): void {
  if (to === undefined) return;
  if (from === undefined) throw invalid("valid_to", "needs an explicit valid_from");
  if (to <= from) throw invalid("valid_to", `${to} must be later than valid_from ${from}`);
}

/**
 * Reads the two ends of a window, each optional and inclusive; they may be equal.
 * @param field name of the ends without `_from` and `_to`
 * @throws SvcError invalid_argument if one is malformed, or the end lies before the start
 */
export function parseWindow(from: unknown, to: unknown, field: string) {
  const window = {
    from: parseInstantInput(from, `${field}_from`),
    to: parseInstantInput(to, `${field}_to`),
  };
  if (window.from !== undefined && window.to !== undefined && window.to < window.from) {
    throw invalid(`${field}_to`, `${window.to} is before ${field}_from ${window.from}`);
  }
  return window;
}

/** What happened to a memory since an earlier moment. `expired`: active, but past its retention. */
export type Became = {
  readonly state: LifecycleState | "expired";
  readonly replacedBy: Uuid | undefined;
};

/** "replaced by" and the id, else the state. */
export function fateWords({ state, replacedBy }: Became): string {
  return replacedBy === undefined ? state : `replaced by ${replacedBy}`;
}
