import type { EpistemicType } from "../../domain/enums.ts";
import { reasonCode } from "../../domain/errors.ts";
import { canReplace } from "../../domain/lifecycle.ts";
import { type MemoryNode, statedTime, wordingOf } from "../../domain/node.ts";
import { retirementBy } from "../../domain/retirement.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owner-names.ts";
import type { StoredMemory, StoreSteps } from "../write/api.ts";
import { findNeighbours, lookForNear, type Neighbour } from "./near.ts";
import { penaliseOscillation } from "./oscillation.ts";
import { changePair } from "./pair.ts";
import { createTurnPairs } from "./pair-turns.ts";
import { reinforce } from "./reinforce.ts";
import { planSupersedes, SUPERSEDE } from "./supersede.ts";

export type StoreStepDeps = Pick<
  EngineDeps<SearchIndex & Graph & NamedRecords>,
  "store" | "embedder" | "clock" | "ids" | "settings" | "warn"
>;

/** Neighbours that reinforcement considers. */
const NEAREST = 5;
/** Neighbours that may be retired. */
const RETIRABLE = 10;
/** Kinds of knowledge that a repetition confirms. */
const REPEATABLE: readonly EpistemicType[] = ["observed", "asserted"];

/**
 * Steps around a store, after it one after the other: similar memories and repeated instructions are reinforced, what was given up
 * is retired, and turns are paired. All but the instructions are off unless the settings turn
 * them on, and nothing is searched for a step that has nothing to do.
 */
export function createStoreSteps(deps: StoreStepDeps): StoreSteps {
  const { pairsTurns } = deps.settings.storeSteps;
  const pairs = pairsTurns ? createTurnPairs(deps) : undefined;
  return {
    replace: planSupersedes,
    near: (node) => lookForNear(deps, node),
    after: async (stored) => {
      const look = lookAround(deps, stored);
      await attempt(deps, "similar memories were not reinforced", () =>
        reinforceSimilar(deps, stored, look),
      );
      await attempt(deps, "repeated instructions were not reinforced", () =>
        reinforceRepeated(deps, stored, look),
      );
      await attempt(deps, "nothing was retired", () => retireNamed(deps, stored, look));
      if (pairs !== undefined) {
        await attempt(deps, "the turn was not paired with the one before it", () =>
          pairs.add(stored),
        );
      }
    },
    forget: () => pairs?.forget(),
  };
}

/** The nearest neighbours of a stored memory; repeated lookups are free. */
type Look = (count: number) => Promise<readonly Neighbour[]>;

function lookAround(deps: StoreStepDeps, { node, vector }: StoredMemory): Look {
  let found: Promise<readonly Neighbour[]> | undefined;
  return async (count) => {
    if (vector === undefined) return [];
    const { userId, id: except } = node;
    found ??= findNeighbours(deps, { userId, vector, except, count: RETIRABLE });
    return (await found).slice(0, count);
  };
}

async function attempt(
  { warn }: StoreStepDeps,
  failure: string,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    // The cause may contain memory text; only its category leaves this place.
    warn(`store: ${failure} (${reasonCode(error)})`);
  }
}

async function reinforceSimilar(
  deps: StoreStepDeps,
  { event, node }: StoredMemory,
  look: Look,
): Promise<void> {
  const threshold = deps.settings.storeSteps.reinforceSimilarity;
  if (threshold === undefined) return;
  for (const neighbour of await look(NEAREST)) {
    const { node: known, similarity } = neighbour;
    if (similarity < threshold || known.scope !== node.scope) continue;
    if (known.nodeType === "instruction") continue;
    await attempt(deps, `memory ${known.id} was not reinforced`, async () => {
      await reinforce(deps, known.id, { userId: node.userId, evidenceId: event.id });
    });
  }
}

async function reinforceRepeated(
  deps: StoreStepDeps,
  { event, node }: StoredMemory,
  look: Look,
): Promise<void> {
  const isOwnWord = event.role === "user" || event.role === "human";
  if (!isOwnWord || !isRepeatable(node)) return;
  const same = (await look(NEAREST)).filter(
    ({ node: known }) =>
      isRepeatable(known) &&
      known.content === node.content &&
      known.scope === node.scope &&
      !known.evidenceRefs.includes(event.id) &&
      statedTime(known) <= statedTime(node),
  );
  for (const { node: known } of same) {
    await attempt(deps, `instruction ${known.id} was not reinforced`, async () => {
      await reinforce(deps, known.id, { userId: node.userId, evidenceId: event.id });
    });
  }
}

function isRepeatable({ nodeType, sourceType, epistemicType }: MemoryNode): boolean {
  return (
    nodeType === "instruction" && sourceType === "user_stated" && REPEATABLE.includes(epistemicType)
  );
}

async function retireNamed(
  deps: StoreStepDeps,
  { node, supersedes }: StoredMemory,
  look: Look,
): Promise<void> {
  if (!deps.settings.storeSteps.supersedes) return;
  const isRetired = retirementBy(wordingOf(node));
  let retired = supersedes.length;
  for (const { node: known } of isRetired === undefined ? [] : await look(RETIRABLE)) {
    if (known.scope !== node.scope || !canReplace(known.lifecycleState)) continue;
    if (isRetired?.(wordingOf(known)) !== true) continue;
    await attempt(deps, `memory ${known.id} was not retired`, async () => {
      await changePair(deps, SUPERSEDE, [known.id, node.id], { userId: node.userId });
      retired += 1;
    });
  }
  if (retired > 0) await penaliseOscillation(deps, node);
}
