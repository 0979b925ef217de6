import { ACTIVE_STATES, type LifecycleState } from "../../domain/enums.ts";
import { DECAY_RATES, type FadingProfile, mayHaveFaded } from "../../domain/fading.ts";
import { mayBePromoted } from "../../domain/metadata.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { Aging, AgingPage, AgingWalk, Upkeep } from "../../ports/store/work.ts";
import { ACTIVE, endedBefore, isTrue, keyOf, ofOwner, Params } from "./conditions.ts";
import { type Dialect, FIRST_ID } from "./dialect.ts";
import {
  FROM_OPERATIONS,
  fromNodes,
  type NodeRow,
  type OperationRow,
  toAuditRecord,
  toNode,
} from "./rows.ts";
import { readSetting, writeSetting } from "./settings.ts";
import * as sql from "./statement.ts";

/** Reads of the upkeep jobs, except index entries and edges. */
export function bindUpkeep({ read, writeAny }: sql.Access) {
  return {
    walkAging: (walk) => read(walk.owner, () => readAging(walk)),
    isDated: (from, to) => read(ALL_OWNERS, () => isDated(from, to)),
    doubtedClock: () => read(ALL_OWNERS, readDoubtedClock),
    doubtClock: (at) => writeAny(() => doubtClock(at)),
    lastUses: (nodeIds) => read(ALL_OWNERS, () => readLastUses(nodeIds)),
    lastSteps: (nodeIds) => read(ALL_OWNERS, () => readLastSteps(nodeIds)),
    countRetained: (owner, until) => read(owner, () => countRetained(owner, until)),
  } satisfies Partial<Upkeep>;
}

/** A position in the walk: after a node, or before the first of an owner and state. */
type Place = {
  readonly owner: sql.OwnerKey;
  readonly state: LifecycleState;
  readonly createdAt: string;
  readonly id: string;
};

/** The result of one statement for one owner and state. */
type Found = {
  readonly walked: number;
  readonly considered: number;
  /** A list of numbers as JSON; null: none. */
  readonly keys: string | null;
  readonly createdAt: string | null;
  readonly id: string | null;
};

/** Which nodes are considered and which may match, with a few false positives, as SQL with its values from `$6` on. */
type Rule = {
  readonly states: readonly LifecycleState[];
  readonly within: string;
  /** Columns of a node in the walk: whether it is `considered`, and what `meant` reads. */
  readonly columns: string;
  readonly meant: string;
  readonly values: readonly sql.SqlValue[];
  readonly isMeant: (node: MemoryNode) => boolean;
};

/** A page of the walk that `walkAging` describes. */
export function* readAging({ owner, at, after, limit }: AgingWalk): sql.Steps<AgingPage> {
  const rule = ruleOf(at, yield* sql.dialect());
  const nodes: MemoryNode[] = [];
  let considered = 0;
  let left = limit;
  let place = after === undefined ? yield* firstPlace(owner, rule) : parsePlace(after);
  // An owner without such nodes counts as one, so that a page of many owners is short too.
  for (; place !== undefined && left > 0; left -= 1) {
    const found: Found = yield* readFrom(rule, place, left);
    considered += found.considered;
    nodes.push(...(yield* readKeys(place.owner, found.keys)).filter(rule.isMeant));
    left -= found.walked;
    place =
      left > 0 || found.createdAt === null || found.id === null
        ? yield* nextPlace(owner, rule, place)
        : { ...place, createdAt: found.createdAt, id: found.id };
  }
  return { nodes, considered, next: place && JSON.stringify(place) };
}

function parsePlace(text: string): Place {
  // SAFETY: only `readAging` makes these texts.
  return JSON.parse(text) as Place;
}

const FIRST_OWNER = sql.statement("SELECT owner FROM owners ORDER BY owner LIMIT 1");
const NEXT_OWNER = sql.statement(
  "SELECT owner FROM owners WHERE owner > $1::bigint ORDER BY owner LIMIT 1",
);

function* firstPlace(of: Owner, { states }: Rule): sql.Steps<Place | undefined> {
  const first = isEverybody(of)
    ? (yield* sql.get<{ owner: sql.OwnerKey }>(FIRST_OWNER))?.owner
    : yield* sql.ownerKey(of);
  return placeOf(first, states[0]);
}

function* nextPlace(
  of: Owner,
  { states }: Rule,
  { owner, state }: Place,
): sql.Steps<Place | undefined> {
  const next = states[states.indexOf(state) + 1];
  if (next !== undefined) return placeOf(owner, next);
  if (!isEverybody(of)) return undefined;
  return placeOf((yield* sql.get<{ owner: sql.OwnerKey }>(NEXT_OWNER, owner))?.owner, states[0]);
}

function placeOf(
  owner: sql.OwnerKey | undefined,
  state: LifecycleState | undefined,
): Place | undefined {
  if (owner === undefined || state === undefined) return undefined;
  return { owner, state, createdAt: "", id: FIRST_ID };
}

function* readFrom(rule: Rule, place: Place, limit: number): sql.Steps<Found> {
  const { owner, state, createdAt, id } = place;
  const list = (yield* sql.dialect()).isOwnerInKeys ? "json_agg" : "json_group_array";
  const found = yield* sql.get<Found>(
    `SELECT count(*)::float8 AS walked, coalesce(sum(CASE WHEN considered THEN 1 END), 0)::float8 AS considered,
       (${list}(key) FILTER (WHERE ${rule.meant}))::text AS keys,
       max(created_at) AS "createdAt", substr(max(created_at || id::text), 28) AS id
     FROM (SELECT n.key, n.created_at, n.id, ${rule.columns} FROM nodes n
       WHERE n.owner = $1::bigint AND n.lifecycle_state = $2 AND (n.created_at, n.id) > ($3, $4::uuid) AND ${rule.within}
       ORDER BY n.created_at, n.id LIMIT $5) walked`,
    ...[owner, state, createdAt, id, limit],
    ...rule.values,
  );
  return found ?? { walked: 0, considered: 0, keys: null, createdAt: null, id: null };
}

const BY_KEYS = sql.statement(
  (d) => `${fromNodes(d)} WHERE ${d.free("n.owner")} = $1::bigint AND n.key = ANY ($2::integer[])
    ORDER BY n.created_at, n.id`,
);

function* readKeys(owner: sql.OwnerKey, keys: string | null): sql.Steps<readonly MemoryNode[]> {
  const list: readonly number[] = JSON.parse(keys ?? "[]");
  return list.length === 0 ? [] : (yield* sql.all<NodeRow>(BY_KEYS, owner, list)).map(toNode);
}

function ruleOf(at: Aging, d: Dialect): Rule {
  if (at.kind === "tentative") {
    return {
      states: ["tentative"],
      within: "n.created_at <= $6",
      columns: "true AS considered, n.evidence_refs",
      meant: "json_array_length(evidence_refs::json) >= $7",
      values: [at.createdBefore, at.evidence],
      isMeant: mayBePromoted,
    };
  }
  if (at.kind === "retired" || at.kind === "retained") {
    const isRetired = at.kind === "retired";
    return {
      states: isRetired ? ["archived", "deprecated"] : ACTIVE_STATES,
      within: isRetired ? "true" : "n.ttl_days IS NOT NULL AND n.pinned = 0",
      columns: "true AS considered",
      meant: "true",
      values: [],
      isMeant: () => true,
    };
  }
  const { now, salience, confidence, fading } = at;
  const unused = [...at.unusedBefore];
  const ofUnusedType = unused.map((_, place) => `n.node_type = $${9 + 2 * place}`);
  const isUnused = unused.map(
    (_, place) => `${ofUnusedType[place]} AND n.last_reinforced_at < $${10 + 2 * place}`,
  );
  const fades = `(n.pinned = 0 AND ${canFade(d, fading)})`;
  return {
    states: ACTIVE_STATES,
    within: "true",
    columns: `${fades} AS can_fade, n.pinned = 0 AND (${fades} OR ${anyOf(ofUnusedType)}) AS considered,
      n.pinned = 0 AND (${anyOf(isUnused)}) AS unused, n.salience_base, n.confidence_base, ${daysOf(d)} * ${RATE} AS faded`,
    meant:
      "unused OR can_fade AND (salience_base * exp(-faded) < $7::float8 OR confidence_base * exp(-faded / 2) < $8::float8)",
    // With a margin, because this is not exact to the last bit. The exact rule removes false positives.
    values: [now, salience * 1.000_01, confidence * 1.000_01, ...unused.flat()],
    isMeant: (node) => mayHaveFaded(node, at),
  };
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "false" : conditions.join(" OR ");
}

/** `canFade` of unpinned nodes, as SQL. */
const canFade = (d: Dialect, fading: FadingProfile): string =>
  fading === "own"
    ? `n.node_type = 'summary' AND ${isTrue(d, "n", "consolidation_summary")}`
    : "(n.ttl_days IS NOT NULL OR n.node_type NOT IN ('entity', 'fact'))";

/** Days since the last reinforcement, and what a memory loses per day, as in `decayed`. */
const daysOf = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys
    ? "greatest(0, extract(epoch FROM $6::timestamptz - n.last_reinforced_at::timestamptz)::float8 / 86400)"
    : "max(0, julianday($6) - julianday(n.last_reinforced_at))";
const RATE = `CASE n.decay_profile ${Object.entries(DECAY_RATES)
  .map(([profile, rate]) => `WHEN '${profile}' THEN ${rate}::float8`)
  .join(" ")} END`;

/** Active nodes whose retention ends. */
export function* countRetained(of: Owner, until?: Instant): sql.Steps<number> {
  const d = yield* sql.dialect();
  const owner = yield* keyOf(of);
  if (owner === undefined) return 0;
  const params = new Params();
  const ended = until === undefined ? "true" : endedBefore(d, params, until);
  const mine = ofOwner(params, d.free("n.owner"), owner);
  const row = yield* sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM nodes n
     WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE} AND ${ended} AND ${mine}`,
    ...params.values,
  );
  return row?.count ?? 0;
}

const LAST_STEP = sql.statement(`${FROM_OPERATIONS}
  WHERE target_id = $1 AND op_type IN ('LIFECYCLE_CHANGED', 'TOMBSTONE_SWEEP') ORDER BY created_at DESC, id DESC LIMIT 1`);

/** The last transition of nodes. */
export function* readLastSteps(
  nodeIds: readonly Uuid[],
): sql.Steps<ReadonlyMap<Uuid, AuditRecord>> {
  const rows = yield* sql.together(
    ...nodeIds.map((id) => sql.beyondWall(sql.get<OperationRow>(LAST_STEP, id))),
  );
  const records = rows.flatMap((row) => (row === undefined ? [] : [toAuditRecord(row)]));
  return new Map(records.map((record) => [asUuid(record.targetId), record]));
}

const LAST_USES = sql.statement(
  ({ isOwnerInKeys, each, join }) =>
    `SELECT n.id, max(r.created_at) AS at FROM ${each("$1", "uuid", "i")} ${join} nodes n ON n.id = i.value
     ${
       isOwnerInKeys
         ? `JOIN receipt_nodes c ON c.owner = n.owner AND c.node_id = n.id
            JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id`
         : "CROSS JOIN receipt_nodes c ON c.node = n.key CROSS JOIN receipts r ON r.key = c.receipt"
     }
     GROUP BY n.id`,
);

/** When nodes were last in the context of an answer. */
export function* readLastUses(nodeIds: readonly Uuid[]): sql.Steps<ReadonlyMap<Uuid, Instant>> {
  const rows = yield* sql.all<{ id: Uuid; at: Instant }>(LAST_USES, nodeIds);
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Events are dated by the memories made from them, for which a pack has an index. */
const IS_DATED = sql.statement(({ isOwnerInKeys }) => {
  const events = isOwnerInKeys
    ? `SELECT 1 FROM owners o WHERE EXISTS (
         SELECT 1 FROM events e WHERE e.owner = o.owner AND e.timestamp BETWEEN $1 AND $2)`
    : "SELECT 1 FROM nodes WHERE created_at BETWEEN $1 AND $2";
  return `SELECT EXISTS (${events}) OR EXISTS (SELECT 1 FROM receipts WHERE created_at BETWEEN $1 AND $2) AS "isDated"`;
});

function* isDated(from: Instant, to: Instant): sql.Steps<boolean> {
  const row = yield* sql.get<{ isDated: boolean | number }>(IS_DATED, from, to);
  return Boolean(row?.isDated);
}

/** The clock reading that a pass doubted. */
const CLOCK = "doubted_clock";

function* readDoubtedClock(): sql.Steps<Instant | undefined> {
  const at = yield* readSetting(CLOCK);
  return at === undefined ? undefined : asInstant(at);
}

function* doubtClock(at: Instant | undefined): sql.Steps<void> {
  yield* writeSetting(CLOCK, at);
}
