import type { OrganizerSettings } from "../../../src/engine/settings.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import {
  DEFAULT_SETTINGS,
  type EngineOptions,
  type OpenedEngine,
  testClock,
  type useEngines,
} from "../engines.ts";
import { remember } from "../lifecycle/memories.ts";

export type Aged = OpenedEngine & {
  readonly ids: readonly string[];
  readonly clock: ReturnType<typeof testClock>;
};

/**
 * Makes packs with memories, and engines on them that do nothing by themselves.
 * @param open of the tests of a file
 * @param rules of the organizer that are not the default
 */
export function agingPacks(
  open: ReturnType<typeof useEngines>["open"],
  rules: Partial<OrganizerSettings> = {},
) {
  /** Memories of ada, unless told otherwise, at noon of 18 March 2026, seen from the moment `later`. */
  return async (
    inputs: readonly Partial<StoreInput>[],
    options: EngineOptions & { readonly later?: string } = {},
  ): Promise<Aged> => {
    const { later = "2026-03-26T12:00:00Z", ...given } = options;
    const clock = testClock();
    const organizer = { ...DEFAULT_SETTINGS.organizer, ...rules };
    const settings = { upkeep: undefined, organizer, ...given.settings };
    const one = await open({ clock, ...given, settings });
    const ids: string[] = [];
    for (const input of inputs) {
      const memory = { content: "The parcel is at the gate", userId: "ada", ...input };
      ids.push((await remember(one.engine, memory.content, memory)).id);
    }
    clock.set(later);
    return { ...one, ids, clock };
  };
}

export const stateOf = async ({ engine }: OpenedEngine, id: string | undefined) =>
  (await engine.getNode(id ?? "", { includeSuperseded: true }))?.lifecycleState;

/** The operations on a memory, of one kind. */
export async function recordsOf({ engine }: OpenedEngine, id: string | undefined, opType: string) {
  const { operations = [] } = (await engine.getProvenance(id ?? "")) ?? {};
  return operations.filter((operation) => operation.opType === opType);
}
