import type { NodeType } from "./enums.ts";

/** Days a new memory is kept by default; undefined keeps it for ever. */
export type TtlDefaults = Readonly<Partial<Record<NodeType, number>>>;

export const DEFAULT_TTL_DAYS: TtlDefaults = {
  event: 365,
  decision: 180,
  task: 90,
  summary: 365,
  note: 90,
};

/**
 * The retention of a new memory.
 * @param given undefined takes the type's default, null keeps the memory for ever, a number is used as it is.
 */
export function initialTtlDays(
  nodeType: NodeType,
  given: number | null | undefined,
  defaults: TtlDefaults,
): number | undefined {
  if (given === null) return undefined;
  return given ?? defaults[nodeType];
}
