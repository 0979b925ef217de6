import {
  parseFilled,
  parseOptionalInteger,
  parseOptionalList,
  parseOptionalMember,
  parseUserId,
} from "../domain/arguments.ts";
import { checksummed } from "../domain/checksummed.ts";
import { SCOPES, type Scope } from "../domain/enums.ts";
import { matrixConfidence } from "../domain/epistemics.ts";
import { SvcError } from "../domain/errors.ts";
import { canReplace, isActive, requireStep } from "../domain/lifecycle.ts";
import { type MemoryNode, newMemory, nodeRecord } from "../domain/node.ts";
import {
  evidenceUnion,
  mentions,
  NameCounts,
  type ProfileText,
  profileText,
  sourceHash,
} from "../domain/organize.ts";
import { uuidV5 } from "../lib/hashing.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { ChangeSnapshot, Decision, Graph } from "../ports/store/graph.ts";
import type { EngineDeps } from "./deps.ts";
import { logEntry } from "./lifecycle/change-one.ts";
import { nodePages } from "./pages.ts";

/** Profiles of names. `null` and `undefined` both mean absent. */

export type KnowledgeInput = {
  readonly userId: string;
  /** Absent: each scope separately. */
  readonly scope?: Scope | null | undefined;
  /** The name to build a profile of, not blank. Absent: frequent words that look like names, and names with a profile. */
  readonly entityNames?: readonly string[] | null | undefined;
  /** At least 0. Default 500. */
  readonly maxProfileTokens?: number | null | undefined;
};

export type ProfileMethods = {
  /**
   * Builds profiles from stable and tentative memories: one summary for each name that two memories mention, replacing the former one.
   * Profiles published before an error stay.
   * @returns how many were published
   * @throws SvcError invalid_argument; stale_profile if a memory changed meanwhile: call again; embedding_failed
   */
  consolidateKnowledge(input: KnowledgeInput): Promise<number>;
};

const DEFAULT_TOKENS = 500;
const PAGE = 500;
/** Mentions needed for a profile. */
const LEAST = 2;
const ACTOR = "profile";

type Deps = Pick<
  EngineDeps<Graph>,
  "store" | "embedder" | "tokenizer" | "ids" | "clock" | "settings"
>;

export async function consolidateKnowledge(deps: Deps, input: KnowledgeInput): Promise<number> {
  const userId = parseUserId(input.userId);
  const scope = parseOptionalMember(SCOPES, input.scope, "scope");
  const names = parseOptionalList(input.entityNames, "entity_names")?.map((name) =>
    parseFilled(name, "entity_names").trim(),
  );
  const max =
    parseOptionalInteger(input.maxProfileTokens, "max_profile_tokens", 0) ?? DEFAULT_TOKENS;
  await deps.tokenizer.ready();
  let published = 0;
  for (const each of scope === undefined ? SCOPES : [scope]) {
    published += await ofScope(deps, { userId, scope: each, names, max });
  }
  return published;
}

type Wanted = {
  readonly userId: string;
  readonly scope: Scope;
  readonly names: readonly string[] | undefined;
  readonly max: number;
};

async function ofScope(deps: Deps, wanted: Wanted): Promise<number> {
  const profiles = await profilesOf(deps, wanted);
  const names = new Set(wanted.names ?? [...(await namesOf(deps, wanted)), ...profiles.keys()]);
  let published = 0;
  for (const name of [...names].sort()) {
    const found = await mentioning(deps, wanted, name);
    const previous = profiles.get(name) ?? [];
    if (found.length >= LEAST) {
      const text = profileText(name, found, wanted.max, (part) =>
        deps.tokenizer.count(part, wanted.userId),
      );
      if (text === undefined) continue;
      await replace(deps, { wanted, name, previous, text, available: found.length });
      published += 1;
    } else if (previous.length > 0) {
      await replace(deps, { wanted, name, previous, text: undefined, available: found.length });
    }
  }
  return published;
}

/** The stable and tentative memories of an owner and scope. */
async function* memories({ store }: Deps, { userId, scope }: Wanted): AsyncIterable<MemoryNode> {
  const lifecycleStates = ["tentative", "stable"] as const;
  const pages = nodePages(store, { userId, scope, lifecycleStates, limit: PAGE });
  for await (const nodes of pages) yield* nodes;
}

function isProfile({ metadata }: MemoryNode): boolean {
  return metadata?.["entity_profile"] === true;
}

async function profilesOf(
  deps: Deps,
  wanted: Wanted,
): Promise<ReadonlyMap<string, readonly MemoryNode[]>> {
  const found: MemoryNode[] = [];
  for await (const node of memories(deps, wanted)) if (isProfile(node)) found.push(node);
  return Map.groupBy(found, ({ metadata }) => String(metadata?.["entity_name"]));
}

async function namesOf(deps: Deps, wanted: Wanted): Promise<readonly string[]> {
  const counts = new NameCounts();
  for await (const node of memories(deps, wanted)) if (!isProfile(node)) counts.add(node.content);
  return counts.names();
}

async function mentioning(deps: Deps, wanted: Wanted, name: string): Promise<MemoryNode[]> {
  const isMentioned = mentions(name);
  const found: MemoryNode[] = [];
  for await (const node of memories(deps, wanted)) {
    if (!isProfile(node) && isMentioned(node.content)) found.push(node);
  }
  return found;
}

type Replacement = {
  readonly wanted: Wanted;
  readonly name: string;
  readonly previous: readonly MemoryNode[];
  /** Undefined: former profiles are archived without replacement. */
  readonly text: ProfileText | undefined;
  readonly available: number;
};

/** Publishes a profile and archives the former ones in one transaction. @throws SvcError stale_profile */
async function replace(deps: Deps, replacement: Replacement): Promise<void> {
  const { text, previous, wanted, name } = replacement;
  const vector = text && (await deps.embedder.embedDocument(text.content, wanted.userId));
  const former = previous.map((node) => node.id).sort();
  // Two processes that replace the same profiles derive the same id: the second one loses.
  const id = uuidV5(
    "url",
    JSON.stringify(["svc:profile:v1", wanted.userId, wanted.scope, name, former]),
  );
  const operationIds = [deps.ids.next(), deps.ids.next()] as const;
  const nodeIds = [id, ...former, ...(text?.sources ?? []).map((node) => node.id)];
  await deps.store.change({ nodeIds, auditRecordIds: [], eventIds: [] }, (snapshot) =>
    decide(snapshot, replacement, { deps, id, vector, operationIds }),
  );
}

type Made = {
  readonly deps: Deps;
  readonly id: Uuid;
  readonly vector: Float32Array | undefined;
  readonly operationIds: readonly [Uuid, Uuid];
};

function decide(
  snapshot: ChangeSnapshot,
  replacement: Replacement,
  { deps, id, vector, operationIds: [preparedId, publishedId] }: Made,
): Decision<void> {
  const { at } = snapshot;
  const { name, previous, text, wanted } = replacement;
  requireUnchanged(snapshot, replacement, id);
  const before = previous.flatMap((node) => snapshot.nodes.get(node.id) ?? []);
  const archived = before.map(
    (node): MemoryNode => ({
      ...node,
      lifecycleState: requireStep("archive", node),
      updatedAt: at,
    }),
  );
  const profile = text && profileNode(replacement, text, { id, at, deps });
  const about = { version: 1, entity_name: name, scope: wanted.scope };
  const subject = profile ?? archived[0];
  if (subject === undefined) return { change: undefined, result: undefined };
  const prepared = checksummed({
    ...about,
    operation_id: preparedId,
    sources: Object.fromEntries((text?.sources ?? []).map((node) => [node.id, sourceHash(node)])),
  });
  const published = checksummed({
    ...about,
    operation_id: publishedId,
    profile: profile === undefined ? null : nodeRecord.to(profile),
    previous_before: before.map((node) => nodeRecord.to(node)),
    previous_after: archived.map((node) => nodeRecord.to(node)),
  });
  const entry = (opType: string, id: Uuid, actorId: string, payload: JsonObject) =>
    logEntry(opType, subject, { id, actorId, at, payload });
  return {
    change: {
      nodes: archived,
      added: profile && vector && [{ node: profile, vector, at }],
      edges: [],
      auditRecords: [
        entry("PROFILE_PREPARED", preparedId, wanted.userId, prepared),
        entry("PROFILE_PUBLISHED", publishedId, ACTOR, published),
      ],
    },
    result: undefined,
  };
}

function requireUnchanged(
  { nodes }: ChangeSnapshot,
  { name, previous, text }: Replacement,
  id: Uuid,
): void {
  const isRight = (text?.sources ?? []).every((before) => {
    const now = nodes.get(before.id);
    return now && canReplace(now.lifecycleState) && sourceHash(now) === sourceHash(before);
  });
  const isFirst = !nodes.has(id);
  const isFormer = previous.every(({ id }) =>
    isActive(nodes.get(id)?.lifecycleState ?? "archived"),
  );
  if (isRight && isFirst && isFormer) return;
  throw new SvcError(
    "stale_profile",
    `the profile of ${JSON.stringify(name)} was not published: a memory that it is made from changed meanwhile; call again`,
    { entity_name: name },
  );
}

function profileNode(
  { wanted, name, available }: Replacement,
  { content, tokens, sources }: ProfileText,
  { id, at, deps }: { readonly id: Uuid; readonly at: Instant; readonly deps: Deps },
): MemoryNode {
  const matrix = matrixConfidence("inferred", "system_inferred", deps.settings.confidenceOverrides);
  const confidence = Math.min(matrix.value, ...sources.map((source) => source.confidence));
  return newMemory({
    id,
    userId: wanted.userId,
    nodeType: "summary",
    content,
    confidence,
    salience: 0.7,
    decayProfile: "fast",
    epistemicType: "inferred",
    sourceType: "system_inferred",
    scope: wanted.scope,
    metadata: {
      entity_profile: true,
      entity_name: name,
      source_node_ids: sources.map((source) => source.id),
      source_count_available: available,
      source_count_included: sources.length,
      profile_format_version: 2,
      tokens_used: tokens,
      tokenizer: deps.tokenizer.name,
    },
    createdAt: at,
    evidenceRefs: evidenceUnion(sources.map(({ evidenceRefs }) => evidenceRefs)),
  });
}
