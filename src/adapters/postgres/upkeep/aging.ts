import { ACTIVE_STATES, type LifecycleState } from "../../../domain/enums.ts";
import { DECAY_RATES, type FadingProfile, mayHaveFaded } from "../../../domain/fading.ts";
import { mayBePromoted } from "../../../domain/metadata.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";

import type { AuditRecord } from "../../../ports/store/records.ts";
import type { Aging, AgingPage, AgingWalk } from "../../../ports/store/work.ts";
import { FROM_OPERATIONS, type OperationRow, toAuditRecord } from "../../sql/rows.ts";

import { ACTIVE, endedBefore, FIRST_ID, ofOwner } from "../conditions.ts";
import { Params } from "../connection/params.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { ownerAfter } from "../owners/list-owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../rows.ts";

/** A place in the walk: behind a node, or before the first of an owner and state. */
type Place = {
  readonly owner: OwnerKey;
  readonly state: LifecycleState;
  readonly createdAt: string;
  readonly id: string;
};

/** A page of the walk that `walkAging` describes. */
export async function readAging(
  sql: Sql,
  { owner, at, after, limit }: AgingWalk,
): Promise<AgingPage> {
  const rule = ruleOf(at);
  const nodes: MemoryNode[] = [];
  let considered = 0;
  let left = limit;
  let place = after === undefined ? await firstPlace(sql, owner, rule) : parsePlace(after);
  // An owner without such nodes counts as one, so that a page of many owners is short, too.
  for (; place !== undefined && left > 0; left -= 1) {
    const rows = await readFrom(sql, rule, place, left);
    considered += rows.filter((row) => row.is_considered).length;
    const meant = rows.filter((row) => row.is_meant).map(toNode);
    nodes.push(...meant.filter(rule.isMeant));
    left -= rows.length;
    const last = rows.at(-1);
    place =
      left > 0 || last === undefined
        ? await nextPlace(sql, owner, rule, place)
        : { ...place, createdAt: last.created_at, id: last.id };
  }
  return { nodes, considered, next: place && JSON.stringify(place) };
}

function parsePlace(text: string): Place {
  // SAFETY: only `readAging` makes these texts.
  return JSON.parse(text) as Place;
}

async function firstPlace(sql: Sql, of: Owner, { states }: Rule): Promise<Place | undefined> {
  return placeOf(
    isEverybody(of) ? (await ownerAfter(sql, undefined))?.owner : ownerKey(of),
    states[0],
  );
}

async function nextPlace(
  sql: Sql,
  of: Owner,
  { states }: Rule,
  { owner, state }: Place,
): Promise<Place | undefined> {
  const next = states[states.indexOf(state) + 1];
  if (next !== undefined) return placeOf(owner, next);
  return isEverybody(of) ? placeOf((await ownerAfter(sql, owner))?.owner, states[0]) : undefined;
}

function placeOf(
  owner: OwnerKey | undefined,
  state: LifecycleState | undefined,
): Place | undefined {
  if (owner === undefined || state === undefined) return undefined;
  return { owner, state, createdAt: "", id: FIRST_ID };
}

type AgingRow = NodeRow & { readonly is_considered: boolean; readonly is_meant: boolean };

/** The next nodes of an owner and state. */
async function readFrom(sql: Sql, rule: Rule, place: Place, limit: number): Promise<AgingRow[]> {
  const params = new Params(place.owner, place.state, place.createdAt, place.id, limit);
  const { within, considered, meant } = rule.conditions(params);
  return await sql.all<AgingRow>(
    `SELECT ${NODE_COLUMNS}, ${considered} AS is_considered, ${meant} AS is_meant
     FROM nodes n JOIN owners o ON o.owner = n.owner
     WHERE n.owner = $1::bigint AND n.lifecycle_state = $2 AND (n.created_at, n.id) > ($3, $4::uuid) AND ${within}
     ORDER BY n.created_at, n.id LIMIT $5`,
    ...params.values,
  );
}

/** Which nodes are considered and which may be meant, a few too many. */
type Rule = {
  readonly states: readonly LifecycleState[];
  readonly conditions: (
    params: Params,
  ) => Readonly<Record<"within" | "considered" | "meant", string>>;
  readonly isMeant: (node: MemoryNode) => boolean;
};

function ruleOf(at: Aging): Rule {
  if (at.kind === "tentative") {
    return {
      states: ["tentative"],
      conditions: (params) => ({
        within: `n.created_at <= ${params.add(at.createdBefore)}`,
        considered: "true",
        meant: `json_array_length(n.evidence_refs::json) >= ${params.add(at.evidence)}`,
      }),
      isMeant: mayBePromoted,
    };
  }
  if (at.kind === "retired" || at.kind === "retained") {
    const isRetired = at.kind === "retired";
    const within = isRetired ? "true" : "n.ttl_days IS NOT NULL AND n.pinned = 0";
    return {
      states: isRetired ? ["archived", "deprecated"] : ACTIVE_STATES,
      conditions: () => ({ within, considered: "true", meant: "true" }),
      isMeant: () => true,
    };
  }
  const { now, salience, confidence } = at;
  const canFade = CAN_FADE[at.fading];
  return {
    states: ACTIVE_STATES,
    conditions: (params) => {
      const lost = `${daysBefore(params.add(now))} * ${RATE}`;
      // A little more, because this is not computed to the last bit. What is too much is sorted out by the exact rule.
      const faded = `n.salience_base * exp(-${lost}) < ${params.add(salience * 1.000_01)}::float8
        OR n.confidence_base * exp(-${lost} / 2) < ${params.add(confidence * 1.000_01)}::float8`;
      const unused = [...at.unusedBefore].map(([type, before]) => {
        const ofType = `n.pinned = 0 AND n.node_type = ${params.add(type)}`;
        return { ofType, is: `${ofType} AND n.last_reinforced_at < ${params.add(before)}` };
      });
      return {
        within: "true",
        considered: [canFade, ...unused.map(({ ofType }) => ofType)].join(" OR "),
        meant: [`${canFade} AND (${faded})`, ...unused.map(({ is }) => is)].join(" OR "),
      };
    },
    isMeant: (node) => mayHaveFaded(node, at),
  };
}

/** `canFade` in SQL. */
const CAN_FADE: Readonly<Record<FadingProfile, string>> = {
  own: "(n.pinned = 0 AND n.node_type = 'summary' AND n.metadata::json ->> 'consolidation_summary' = 'true')",
  original: "(n.pinned = 0 AND (n.ttl_days IS NOT NULL OR n.node_type NOT IN ('entity', 'fact')))",
};

/** Days since the last reinforcement, and what a memory loses per day, as in `decayed`. */
function daysBefore(now: string): string {
  return `greatest(0, extract(epoch FROM ${now}::timestamptz - n.last_reinforced_at::timestamptz)::float8 / 86400)`;
}
const RATE = `CASE n.decay_profile ${Object.entries(DECAY_RATES)
  .map(([profile, rate]) => `WHEN '${profile}' THEN ${rate}::float8`)
  .join(" ")} END`;

/** Active nodes whose retention ends. */
export async function countRetained(sql: Sql, owner: Owner, until?: Instant): Promise<number> {
  const params = new Params();
  const ending = until === undefined ? "true" : endedBefore(params, until);
  const row = await sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM nodes n
     WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE} AND ${ending} AND ${ofOwner(params, "n", owner)}`,
    ...params.values,
  );
  return row?.count ?? 0;
}

/** When nodes were last in the context of an answer. */
export async function readLastUses(
  sql: Sql,
  nodeIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, Instant>> {
  const rows = await sql.all<{ id: Uuid; at: Instant }>(
    `SELECT n.id, max(r.created_at) AS at FROM nodes n
     JOIN receipt_nodes c ON c.owner = n.owner AND c.node_id = n.id
     JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id
     WHERE n.id = ANY ($1::uuid[]) GROUP BY n.id`,
    listText(nodeIds),
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Whether something is dated in a span. */
export async function isDated(sql: Sql, from: Instant, to: Instant): Promise<boolean> {
  const row = await sql.get<{ is_dated: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM receipts WHERE created_at BETWEEN $1 AND $2)
       OR EXISTS (SELECT 1 FROM owners o WHERE EXISTS (
         SELECT 1 FROM events e WHERE e.owner = o.owner AND e.timestamp BETWEEN $1 AND $2)) AS is_dated`,
    from,
    to,
  );
  return row?.is_dated === true;
}

/** What moved nodes to their next state last. */
export async function readLastSteps(
  sql: Sql,
  nodeIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, AuditRecord>> {
  const rows = await beyondWall(sql).all<OperationRow>(
    `SELECT s.* FROM unnest($1::uuid[]) i CROSS JOIN LATERAL (${FROM_OPERATIONS}
       WHERE target_id = i::text AND op_type IN ('LIFECYCLE_CHANGED', 'TOMBSTONE_SWEEP')
       ORDER BY created_at DESC, id DESC LIMIT 1) s`,
    listText(nodeIds),
  );
  return new Map(rows.map(toAuditRecord).map((record) => [asUuid(record.targetId), record]));
}
