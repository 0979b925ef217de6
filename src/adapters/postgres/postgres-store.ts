import { randomUUID } from "node:crypto";
import { formsOf, mayMean } from "../../domain/extraction/plan/claims.ts";
import { nameKey } from "../../domain/extraction/plan/context.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import type { Activity, StoreState } from "../../ports/store/graph.ts";
import type { Store } from "../../ports/store/store.ts";
import { bindAdmission } from "../sql/admission.ts";
import { bindAudit } from "../sql/audit.ts";
import { bindBlobs } from "../sql/blobs.ts";
import { bindBrowse } from "../sql/browse.ts";
import { addNodes } from "../sql/change.ts";
import { ACTIVE } from "../sql/conditions.ts";
import { bindEdges } from "../sql/edges.ts";
import { bindErasures } from "../sql/erasure.ts";
import { bindEventReads, readStates } from "../sql/events.ts";
import { bindExtraction } from "../sql/extraction.ts";
import { bindJobs } from "../sql/jobs.ts";
import { type KnownHooks, knownMemories, type Place } from "../sql/known.ts";
import { bindKeyed, bindNodes } from "../sql/nodes.ts";
import { bindOrganizing } from "../sql/organizing.ts";
import { bindOwners } from "../sql/owners.ts";
import { bindReceipts } from "../sql/receipts.ts";
import { bindTableSearches } from "../sql/searches.ts";
import { requireManifest } from "../sql/settings.ts";
import { all, type Steps, statement } from "../sql/statement.ts";
import { bindUpkeep } from "../sql/upkeep.ts";
import { bindWork, newHolder } from "../sql/work.ts";
import { accessOf, run } from "./connection/run.ts";
import type { Database, Sql } from "./connection/sql.ts";
import { erasureHooks } from "./erasure/erasures.ts";
import { apartFromErasing } from "./erasure/names-erased.ts";
import { changeAlone } from "./graph/change.ts";
import { ownerKey } from "./owner-key.ts";
import { handOver } from "./owners/move-owner.ts";
import type { Parts, PostgresStoreParts } from "./parts.ts";
import { createIndexRebuild } from "./rebuild/rebuild.ts";
import { bindSearches } from "./search/bind.ts";
import { indexWrites } from "./search/index-writes.ts";
import { sweepIndexes } from "./upkeep/sweep-indexes.ts";

export function createPostgresStore(given: PostgresStoreParts): Store {
  // SAFETY: the key of a node is its number within its owner; it is created here alone, and callers only hand it back.
  return storeOf(given) as unknown as Store;
}

function storeOf(given: PostgresStoreParts): Store<number> {
  const worker = { holder: newHolder(), clock: given.leaseClock };
  const parts: Parts = { ...given, worker };
  const { clock, database } = parts;
  const roles = accessOf(database);
  const indexes = indexWrites(parts.embedding);
  const hooks = { now: () => clock.now(), indexes };
  const manifest = () => roles.read(ALL_OWNERS, requireManifest);
  return {
    backend: "postgres",
    rebuild: createIndexRebuild(parts),
    owners: bindOwners(roles, clock, handOver),
    manifest,
    ...bindAdmission(roles, { worker, hooks, apart: apartFromErasing }),
    ...bindNodes(roles),
    ...bindKeyed(roles),
    ...bindEdges(roles),
    change: (reads, decide) => changeAlone(database, reads, decide, { ...hooks, mayAdd: true }),
    ...bindBrowse(roles),
    ...bindEventReads(roles),
    ...bindSearches(parts),
    ...bindTableSearches(roles),
    ...bindAudit(roles),
    ...bindState(database),
    ...bindWork(roles, worker),
    ...bindJobs(roles, worker, indexes),
    addNodes: (items) =>
      roles.writeNew(
        items.map(({ node }) => node.userId),
        () => addNodes(items, indexes),
      ),
    ...bindExtraction(roles, worker, indexes),
    knownMemories: (lookup) =>
      roles.snapshot(lookup.event.userId, () => knownMemories(lookup, knownHooks)),
    ...bindOrganizing(roles),
    ...bindReceipts(roles, apartFromErasing),
    ...bindUpkeep(roles),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
    ...bindBlobs(roles),
    ...bindErasures(roles, { ...erasureHooks(database), indexes }),
    close: database.close,
  };
}

/** How a database stands. */
function bindState(database: Database): Pick<Activity, "storeState"> {
  // So that no other store gives the same sequence.
  const opening = randomUUID();
  return {
    storeState: (owner) => database.snapshot(owner, (sql) => readStoreState(sql, owner, opening)),
  };
}

/** The database, and what an owner has in it. */
async function readStoreState(sql: Sql, owner: Owner, opening: string): Promise<StoreState> {
  const isOf = isEverybody(owner) ? "true" : "o.owner = $1::bigint";
  const [states, rest] = await Promise.all([
    run(sql, readStates(owner)),
    sql.get<{ version: string; bytes: number }>(
      `SELECT (SELECT coalesce(sum(version), 0)::text FROM owners o WHERE ${isOf}) AS version,
         pg_database_size(current_database())::float8 AS bytes`,
      ...(isEverybody(owner) ? [] : [ownerKey(owner)]),
    ),
  ]);
  return {
    ...states,
    changeSequence: `${opening}-${rest?.version ?? ""}`,
    bytes: rest?.bytes ?? 0,
    // The disk may be encrypted, but no statement shows it.
    isEncrypted: undefined,
  };
}

const ENTITIES = statement(`SELECT id, content FROM nodes
  WHERE owner = $1::bigint AND scope = $2 AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE} ORDER BY key`);
const CLAIMS = statement(`SELECT DISTINCT n.id, n.metadata::json ->> 'object' AS object FROM edges f
  JOIN nodes n ON n.owner = f.owner AND n.id = f.target
  WHERE f.owner = $1::bigint AND f.edge_type = 'has_fact' AND f.source = ANY ($2::uuid[]) AND n.lifecycle_state IN ${ACTIVE}`);

/** The database may fold case differently, so the names are compared here. */
function* entities({ owner, scope }: Place, names: readonly string[]): Steps<readonly string[]> {
  if (names.length === 0) return [];
  const wanted = new Set(names);
  const rows = yield* all<{ id: string; content: string }>(ENTITIES, owner, scope);
  return rows.filter(({ content }) => wanted.has(nameKey(content))).map(({ id }) => id);
}

/** Only their values are read, since they may be many. */
function* claims(
  { owner }: Place,
  subjects: readonly (string | number)[],
  values: readonly string[],
): Steps<readonly string[]> {
  if (subjects.length === 0 || values.length === 0) return [];
  const sought = values.map(formsOf);
  const rows = yield* all<{ id: string; object: string | null }>(CLAIMS, owner, subjects);
  return rows.filter(({ object }) => mayMean(formsOf(object ?? ""), sought)).map(({ id }) => id);
}

const knownHooks: KnownHooks = { entities, claims };
