import { everythingOf } from "../../domain/candidate-filter.ts";
import { checksummed } from "../../domain/checksummed.ts";
import { modelRules, onScale } from "../../domain/embedding-models.ts";
import type { EpistemicType } from "../../domain/enums.ts";
import { reasonCode } from "../../domain/errors.ts";
import { findOscillation } from "../../domain/feedback.ts";
import { canReplace, isActive } from "../../domain/lifecycle.ts";
import {
  type Edge,
  edgeRecord,
  type MemoryEvent,
  type MemoryNode,
  nodeRecord,
  statedTime,
  wordingOf,
} from "../../domain/node.ts";
import { isRepeat } from "../../domain/organize.ts";
import { retirementBy } from "../../domain/retirement.ts";
import { isSameText, nearnessTo } from "../../domain/same-saying.ts";
import { beginsWithSpeaker, storedSpeaker } from "../../domain/speaker.ts";
import { withoutNoise } from "../../lib/decimal.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import { nextInstant } from "../../lib/instant.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Change, ChangeSnapshot, Graph } from "../../ports/store/graph.ts";
import type { NearNode, SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owners.ts";
import type { NearMemory, StoredMemory, StoreSteps } from "../write/api.ts";
import { logEntry } from "./change-one.ts";
import { changePair, planSupersedes, SUPERSEDE } from "./pair.ts";
import { reinforce } from "./transitions.ts";

type StoreStepDeps = Pick<
  EngineDeps<SearchIndex & Graph & NamedRecords>,
  "store" | "embedder" | "clock" | "ids" | "settings" | "warn"
>;

const NEAREST = 5;
/** Neighbours that may be superseded. */
const RETIRABLE = 10;
const REPEATABLE: readonly EpistemicType[] = ["observed", "asserted"];

/** Steps around a store: reinforcing, superseding, pairing turns. Disabled steps search for nothing. */
export function createStoreSteps(deps: StoreStepDeps): StoreSteps {
  const { pairsTurns } = deps.settings.storeSteps;
  const pairs = pairsTurns ? createTurnPairs(deps) : undefined;
  return {
    replace: planSupersedes,
    near: (node) => lookForNear(deps, node),
    repeated: (stored, near, isRetry) => repeatedBy(deps, stored, near ?? [], isRetry),
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

/** The nearest neighbours of a stored memory; searched once. */
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
    // The message could contain memory text: only the code is reported.
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

const NAMED = 3;
/** Neighbours examined; some of them cannot be replaced. */
const LOOKED_AT = 8;
/** Slack of approximate cosines; the few that matter are computed exactly. */
const MARGIN = 0.01;

/** The memories that a new one may replace or repeat, nearest first. Never rejects. */
function lookForNear(
  { store, embedder, warn }: Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "warn">,
  node: MemoryNode,
): ReturnType<StoreSteps["near"]> {
  const nearness = nearnessTo(node);
  const { likeMemories } = modelRules(embedder.identity.model);
  const { userId, scope } = node;
  const nearest = (known: readonly NearNode[], margin: number): readonly NearNode[] =>
    known
      .flatMap((other) => {
        const near = nearness(other.node, onScale(likeMemories, other.cosine + margin));
        return near === undefined ? [] : [{ other, near }];
      })
      .sort((a, b) => b.near - a.near)
      .slice(0, NAMED)
      .map(({ other }) => other);
  const ready = store.readyForNear(userId).catch(() => undefined);
  return async (vector) => {
    if (vector === undefined) return undefined;
    try {
      await ready;
      const question = { userId, scope, count: LOOKED_AT };
      const chosen = await store.nearNodes(vector, question, (about) => nearest(about, MARGIN));
      return nearest(chosen, 0).map(({ node: known, cosine }) => ({
        node: known,
        similarity: Math.min(1, Math.max(0, cosine)),
        identical: isSameText(known.content, node.content),
      }));
    } catch (error) {
      warn(`store: near memories were not looked for (${reasonCode(error)})`);
      return undefined;
    }
  };
}

/** See `StoreSteps`. Never rejects. */
async function repeatedBy(
  deps: StoreStepDeps,
  { event, node, supersedes }: StoredMemory,
  near: readonly NearMemory[],
  isRetry: boolean,
): Promise<MemoryNode | undefined> {
  const same = near.filter(({ identical }) => identical).map((other) => other.node);
  const [known] = same.toSorted((a, b) => compareUnits(statedTime(b), statedTime(a)));
  if (known === undefined || supersedes.length > 0) return undefined;
  if (isRetry) {
    const own = await deps.store.node(node.id, node.userId);
    return own?.supersededBy === known.id ? known : undefined;
  }
  // What was said in between may have taken its place: then it is said anew.
  const isLast = near.every(
    (other) => other.identical || statedTime(other.node) < statedTime(known),
  );
  if (!isLast || !isRepeat(node, known)) return undefined;
  let kept: MemoryNode | undefined;
  await attempt(deps, `memory ${known.id} was not confirmed`, async () => {
    const options = { userId: node.userId, evidenceId: event.id };
    await changePair(deps, SUPERSEDE, [node.id, known.id], options);
    kept = known;
    kept = await reinforce(deps, known.id, options);
  });
  return kept;
}

/** The cosine is on the scale of the default model. */
type Neighbour = { readonly node: MemoryNode; readonly similarity: number };

type NeighbourQuestion = {
  readonly userId: string;
  readonly vector: Float32Array;
  readonly except?: Uuid;
  readonly count: number;
};

/** An owner's active memories with the nearest vectors, best first. */
async function findNeighbours(
  { store, embedder }: Pick<EngineDeps<SearchIndex>, "store" | "embedder">,
  { userId, vector, except, count }: NeighbourQuestion,
): Promise<readonly Neighbour[]> {
  const { likeMemories } = modelRules(embedder.identity.model);
  const more = except === undefined ? 0 : 1;
  const hits = await store.searchVectors(vector, everythingOf(userId), count + more);
  const keys = hits.map(({ key }) => key);
  const nodes = new Map(
    (await store.nodesByKey(userId, keys)).map(({ key, node }) => [key, node] as const),
  );
  return hits
    .flatMap(({ key, score }) => {
      const node = nodes.get(key);
      return node === undefined || node.id === except
        ? []
        : [{ node, similarity: onScale(likeMemories, score) }];
    })
    .slice(0, count);
}

const OPERATION = "PENALTY";
/** Superseded memories to examine, newest first. */
const CHAIN_STEPS = 10;

/** Lowers the confidence of a memory once if its chain alternates between opinions. @returns whether it did */
export async function penaliseOscillation(
  deps: Pick<EngineDeps<Graph>, "store">,
  newest: Pick<MemoryNode, "id" | "userId">,
): Promise<boolean> {
  const replaced = await deps.store.chain({
    nodeId: newest.id,
    owner: newest.userId,
    direction: "backward",
    maxSteps: CHAIN_STEPS,
  });
  const ids = [newest.id, ...replaced.map(({ id }) => id)];
  const operationId = uuidV5(newest.id, "svc:oscillation-penalty:v1");
  return deps.store.change(
    { nodeIds: ids, auditRecordIds: [operationId], eventIds: [] },
    (snapshot) => {
      const change = decidePenalty(snapshot, ids, operationId);
      return { change, result: change !== undefined };
    },
  );
}

/** Undefined unless the chain is unchanged and alternates. */
function decidePenalty(
  snapshot: ChangeSnapshot,
  ids: readonly Uuid[],
  operationId: Uuid,
): Change | undefined {
  if (snapshot.auditRecords.has(operationId)) return undefined;
  const chain = ids.flatMap((id) => snapshot.nodes.get(id) ?? []);
  const edges = linksOf(chain, snapshot.edges);
  const [before, ...replaced] = chain;
  if (before === undefined || !isStanding(before, replaced) || edges.length < ids.length - 1) {
    return undefined;
  }
  const found = findOscillation(chain.map(({ content }) => content));
  if (found === undefined) return undefined;
  const less = (value: number) => Math.max(0, withoutNoise(value - found.penalty));
  const [confidence, confidenceBase] = [less(before.confidence), less(before.confidenceBase)];
  if (confidence === before.confidence && confidenceBase === before.confidenceBase) {
    return undefined;
  }
  const after = { ...before, confidence, confidenceBase, updatedAt: snapshot.at };
  const payload = checksummed({
    version: 1,
    policy: "oscillation_subtractive_v1",
    operation_id: operationId,
    topic: found.topic,
    cycle_count: found.cycleCount,
    delta: found.penalty,
    chain_before: chain.map(nodeRecord.to),
    chain_edges: edges.map(edgeRecord.to),
    after: nodeRecord.to(after),
  });
  const { at } = snapshot;
  const entry = { id: operationId, actorId: before.userId, at, payload };
  return { nodes: [after], edges: [], auditRecords: [logEntry(OPERATION, after, entry)] };
}

function isStanding(newest: MemoryNode, replaced: readonly MemoryNode[]): boolean {
  return (
    isActive(newest.lifecycleState) &&
    replaced.every(
      ({ lifecycleState, userId, scope }) =>
        lifecycleState === "superseded" && userId === newest.userId && scope === newest.scope,
    )
  );
}

/** The `supersedes` edges between neighbours of a chain. */
function linksOf(chain: readonly MemoryNode[], edges: readonly Edge[]): readonly Edge[] {
  return chain.flatMap(({ id }, index) => {
    const next = chain[index + 1]?.id;
    const isLink = ({ edgeType, sourceId, targetId }: Edge): boolean =>
      edgeType === "supersedes" && sourceId === id && targetId === next;
    return edges.find(isLink) ?? [];
  });
}

/** A pair is at most this long. */
const PAIR_CHARS = 1000;
/** Conversations whose last turn is remembered; the least recently used is dropped first. */
const CONVERSATIONS = 10_000;

type Turn = {
  readonly nodeId: Uuid;
  readonly role: string;
  readonly speaker: string | undefined;
  readonly text: string;
};

/** Joins a turn with the previous one of its conversation in an extra memory, so that question and answer are found together. */
function createTurnPairs(deps: Pick<EngineDeps<Graph>, "store" | "embedder" | "clock" | "ids">) {
  const last = new Map<string, Turn>();
  /** @returns the previous turn */
  const replace = (conversation: string, turn: Turn): Turn | undefined => {
    const previous = last.get(conversation);
    last.delete(conversation);
    last.set(conversation, turn);
    if (last.size > CONVERSATIONS) {
      const [oldest = ""] = last.keys();
      last.delete(oldest);
    }
    return previous;
  };
  const add = async ({ event, node }: StoredMemory): Promise<void> => {
    if (node.sessionId === undefined || node.content.trim() === "") return;
    const turn = turnOf(event, node);
    const previous = replace(JSON.stringify([node.userId, node.sessionId, node.scope]), turn);
    if (previous === undefined || !belongTogether(previous, turn)) return;
    const pair = pairOf(node, [previous, turn], deps);
    const vector = await deps.embedder.embedDocument(pair.content, node.userId);
    const nodeIds = [previous.nodeId, turn.nodeId];
    await deps.store.change({ nodeIds, auditRecordIds: [], eventIds: [] }, ({ at, nodes }) => {
      // A turn that was retired or forgotten meanwhile must not reappear in a pair.
      const isThere = nodeIds.every((id) => {
        const found = nodes.get(id);
        return found !== undefined && isActive(found.lifecycleState);
      });
      const added = [{ node: pair, vector, at }];
      const change = { nodes: [], added, edges: [], auditRecords: [] };
      return { change: isThere ? change : undefined, result: undefined };
    });
  };
  return { add, forget: () => last.clear() };
}

function turnOf({ role }: MemoryEvent, { id, content, metadata }: MemoryNode): Turn {
  return {
    nodeId: id,
    role: role === "human" ? "user" : role,
    speaker: storedSpeaker(metadata),
    // A character is at most two units.
    text: content.slice(0, 2 * PAIR_CHARS),
  };
}

function belongTogether(one: Turn, other: Turn): boolean {
  const isSame = one.role === other.role && one.speaker === other.speaker;
  return !isSame && [...one.text, ...other.text].length < PAIR_CHARS;
}

/** Stored without a session: its neighbours there would be its own two turns. */
function pairOf(
  node: MemoryNode,
  turns: readonly Turn[],
  { ids }: Pick<EngineDeps, "ids">,
): MemoryNode {
  const now = nextInstant(node.createdAt);
  return {
    ...node,
    id: ids.next(),
    sessionId: undefined,
    content: turns.map(spoken).join("\n"),
    metadata: { qa_pair: true },
    createdAt: now,
    updatedAt: now,
    lastReinforcedAt: now,
    ttlDays: undefined,
  };
}

function spoken({ speaker, text }: Turn): string {
  return speaker === undefined || beginsWithSpeaker(text, speaker) ? text : `${speaker}: ${text}`;
}
