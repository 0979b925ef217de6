import type { Database } from "bun:sqlite";
import { ACTIVE_STATES, type LifecycleState } from "../../../domain/enums.ts";
import { DECAY_RATES, type FadingProfile, mayHaveFaded } from "../../../domain/fading.ts";
import { mayBePromoted } from "../../../domain/metadata.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { AuditRecord } from "../../../ports/store/records.ts";
import type { Aging, AgingPage, AgingWalk } from "../../../ports/store/work.ts";
import { FROM_OPERATIONS, type OperationRow, toAuditRecord } from "../../sql/rows.ts";

import { ask, hasRow } from "../connection/ask.ts";
import { readPackSetting } from "../schema/pack-settings.ts";
import { ownerKey, ownerKeyOrAll } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";
import { endedBefore, fractionOf, secondOf } from "./retention-sql.ts";

/** A place in the walk: behind a node, or before the first of an owner and state. */
type Place = {
  readonly owner: number;
  readonly state: LifecycleState;
  readonly createdAt: string;
  readonly id: string;
};

/** What one statement found of one owner and state. */
type Found = {
  readonly walked: number;
  readonly considered: number;
  readonly keys: string;
  readonly createdAt: string | null;
  readonly id: string | null;
};

/** SQL of which nodes are considered and which may be meant, a few too many, and its parameters. */
type Sql = {
  readonly states: readonly LifecycleState[];
  readonly within: string;
  /** Columns of a node that was walked over: whether it is `considered`, and what `meant` reads. */
  readonly columns: string;
  readonly meant: string;
  readonly parameters: readonly (string | number)[];
  readonly isMeant: (node: MemoryNode) => boolean;
};

/** A page of the walk that `walkAging` describes. */
export function readAging(database: Database, { owner, at, after, limit }: AgingWalk): AgingPage {
  const sql = sqlOf(at);
  const nodes: MemoryNode[] = [];
  let considered = 0;
  let left = limit;
  let place = after === undefined ? firstPlace(database, owner, sql) : parsePlace(after);
  // An owner without such nodes counts as one, so that a page of many owners is short, too.
  for (; place !== undefined && left > 0; left -= 1) {
    const found = readFrom(database, sql, place, left);
    considered += found.considered;
    nodes.push(...readKeys(database, found.keys).filter(sql.isMeant));
    left -= found.walked;
    place =
      left > 0 || found.createdAt === null || found.id === null
        ? nextPlace(database, owner, sql, place)
        : { ...place, createdAt: found.createdAt, id: found.id };
  }
  return { nodes, considered, next: place && JSON.stringify(place) };
}

function parsePlace(text: string): Place {
  // SAFETY: only `readAging` makes these texts.
  return JSON.parse(text) as Place;
}

function firstPlace(database: Database, owner: Owner, { states }: Sql): Place | undefined {
  const first = isEverybody(owner) ? ownerAfter(database, 0) : ownerKey(database, owner);
  return placeOf(first, states[0]);
}

function nextPlace(database: Database, of: Owner, sql: Sql, place: Place): Place | undefined {
  const { owner, state } = place;
  const next = sql.states[sql.states.indexOf(state) + 1];
  if (next !== undefined) return placeOf(owner, next);
  return isEverybody(of) ? placeOf(ownerAfter(database, owner), sql.states[0]) : undefined;
}

function placeOf(owner: number | undefined, state: LifecycleState | undefined): Place | undefined {
  if (owner === undefined || state === undefined) return undefined;
  return { owner, state, createdAt: "", id: "" };
}

function ownerAfter(database: Database, owner: number): number | undefined {
  return ask<number>(
    database,
    "SELECT owner FROM owners WHERE owner > ? ORDER BY owner LIMIT 1",
    owner,
  );
}

function readFrom(database: Database, sql: Sql, place: Place, limit: number): Found {
  const { owner, state, createdAt, id } = place;
  const found = database
    .query<Found, (string | number)[]>(
      `SELECT count(*) AS walked, coalesce(sum(considered), 0) AS considered,
         json_group_array(key) FILTER (WHERE ${sql.meant}) AS keys,
         max(created_at) AS createdAt, substr(max(created_at || id), 28) AS id
       FROM (SELECT n.key, n.created_at, n.id, ${sql.columns} FROM nodes n
         WHERE n.owner = ?1 AND n.lifecycle_state = ?2 AND (n.created_at, n.id) > (?3, ?4) AND ${sql.within}
         ORDER BY n.created_at, n.id LIMIT ?5)`,
    )
    .get(owner, state, createdAt, id, limit, ...sql.parameters);
  return found ?? { walked: 0, considered: 0, keys: "[]", createdAt: null, id: null };
}

function readKeys(database: Database, keys: string): readonly MemoryNode[] {
  if (keys === "[]") return [];
  return database
    .query<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?) i CROSS JOIN nodes n ON n.key = i.value
       CROSS JOIN owners o ON o.owner = n.owner`,
    )
    .all(keys)
    .map(toNode);
}

function sqlOf(at: Aging): Sql {
  if (at.kind === "tentative") {
    return {
      states: ["tentative"],
      within: "n.created_at <= ?6",
      columns: "1 AS considered, n.evidence_refs",
      meant: "json_array_length(evidence_refs) >= ?7",
      parameters: [at.createdBefore, at.evidence],
      isMeant: mayBePromoted,
    };
  }
  if (at.kind === "retired" || at.kind === "retained") {
    const isRetired = at.kind === "retired";
    return {
      states: isRetired ? ["archived", "deprecated"] : ACTIVE_STATES,
      within: isRetired ? "true" : "n.ttl_days IS NOT NULL AND n.pinned = 0",
      columns: "1 AS considered",
      meant: "true",
      parameters: [],
      isMeant: () => true,
    };
  }
  const { now, salience, confidence } = at;
  const unused = [...at.unusedBefore];
  const isUnused = unused.map(
    (_, place) => `n.node_type = ?${9 + 2 * place} AND n.last_reinforced_at < ?${10 + 2 * place}`,
  );
  const ofUnusedType = unused.map((_, place) => `n.node_type = ?${9 + 2 * place}`);
  return {
    states: ACTIVE_STATES,
    within: "true",
    columns: `${CAN_FADE[at.fading]} AS can_fade, n.pinned = 0 AND (${CAN_FADE[at.fading]} OR ${anyOf(ofUnusedType)}) AS considered,
      n.pinned = 0 AND (${anyOf(isUnused)}) AS unused, n.salience_base, n.confidence_base, ${DAYS} * ${RATE} AS faded`,
    meant:
      "unused OR can_fade AND (salience_base * exp(-faded) < ?7 OR confidence_base * exp(-faded / 2) < ?8)",
    // A little more, because SQLite counts days in milliseconds. What is too much is sorted out by the exact rule.
    parameters: [now, salience * 1.000_01, confidence * 1.000_01, ...unused.flat()],
    isMeant: (node) => mayHaveFaded(node, at),
  };
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "0" : conditions.join(" OR ");
}

/** `canFade` in SQL. */
const CAN_FADE: Readonly<Record<FadingProfile, string>> = {
  own: "(n.pinned = 0 AND n.node_type = 'summary' AND n.metadata ->> '$.consolidation_summary' = 1)",
  original: "(n.pinned = 0 AND (n.ttl_days IS NOT NULL OR n.node_type NOT IN ('entity', 'fact')))",
};
/** Days since the last reinforcement, and what a memory loses per day, as in `decayed`. */
const DAYS = "max(0, julianday(?6) - julianday(n.last_reinforced_at))";
const RATE = `CASE n.decay_profile ${Object.entries(DECAY_RATES)
  .map(([profile, rate]) => `WHEN '${profile}' THEN ${rate}`)
  .join(" ")} END`;

/** Active nodes whose retention ends. */
export function countRetained(database: Database, of: Owner, until?: Instant): number {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return 0;
  const ending = until === undefined ? "true" : endedBefore("?1", "?2");
  const moment = until === undefined ? [] : [secondOf(until), fractionOf(until)];
  const counted = `SELECT count(*) FROM nodes n
    WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE} AND ${ending}`;
  const count = isEverybody(owner)
    ? ask<number>(database, counted, ...moment)
    : ask<number>(database, `${counted} AND +n.owner = ?`, ...moment, owner);
  return count ?? 0;
}

/** What moved nodes to their next state last. */
export function readLastSteps(
  database: Database,
  nodeIds: readonly Uuid[],
): ReadonlyMap<Uuid, AuditRecord> {
  const read = database.query<OperationRow, [string]>(
    `${FROM_OPERATIONS} WHERE target_id = ? AND op_type IN ('LIFECYCLE_CHANGED', 'TOMBSTONE_SWEEP')
     ORDER BY created_at DESC, id DESC LIMIT 1`,
  );
  const steps = nodeIds.flatMap((id) => {
    const row = read.get(id);
    return row === null ? [] : [[id, toAuditRecord(row)] as const];
  });
  return new Map(steps);
}

/** When nodes were last in the context of an answer. */
export function readLastUses(
  database: Database,
  nodeIds: readonly Uuid[],
): ReadonlyMap<Uuid, Instant> {
  const rows = database
    .query<{ id: Uuid; at: Instant }, [string]>(
      `SELECT n.id, max(r.created_at) AS at FROM json_each(?) i CROSS JOIN nodes n ON n.id = i.value
       CROSS JOIN receipt_nodes c ON c.node = n.key CROSS JOIN receipts r ON r.key = c.receipt GROUP BY n.key`,
    )
    .all(JSON.stringify(nodeIds));
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Setting of a pack: the reading of the clock that a pass doubted. */
export const CLOCK = "doubted_clock";

export function readDoubtedClock(database: Database): Instant | undefined {
  const at = readPackSetting(database, CLOCK);
  return at === undefined ? undefined : asInstant(at);
}

/** Whether something is dated in a span, as events are by the memories that they brought. */
export function isDated(database: Database, from: Instant, to: Instant): boolean {
  return (
    hasRow(database, "nodes WHERE created_at BETWEEN ? AND ?", from, to) ||
    hasRow(database, "receipts WHERE created_at BETWEEN ? AND ?", from, to)
  );
}
