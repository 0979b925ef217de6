import type { Database } from "bun:sqlite";
import { ACTIVE_STATES } from "../../../domain/enums.ts";
import { BLANKS, type Surrounded, TURN_TYPE } from "../../../domain/search/turns.ts";
import { compareUnits } from "../../../lib/text.ts";
import { sqlList } from "../../sql/dialect.ts";

export const ACTIVE = sqlList(ACTIVE_STATES);
/** `hasText`, as SQL: by default `trim` removes only spaces. */
export const HAS_TEXT = `trim(content, char(${BLANKS.join(", ")})) <> ''`;
/** Whether a node is an entity from an extraction: it has a vector, and no lexical document. As SQL. */
export const IS_EXTRACTED_ENTITY = `node_type = 'entity' AND EXISTS (SELECT 1 FROM events x CROSS JOIN jobs j
  ON j.event_key = x.key AND j.kind = 'extraction' WHERE x.id = evidence_refs ->> 0)`;
/** Whether a node has a lexical document while it is active, as SQL. */
export const HAS_WORDS = `${HAS_TEXT} AND NOT (${IS_EXTRACTED_ENTITY})`;
/** Columns of a Turn. */
export const TURN = "key, owner, content, node_type, session_id, scope, created_at, event_time, id";
/** `isTurn`, as SQL. */
export const IS_TURN = `node_type = '${TURN_TYPE}' AND session_id IS NOT NULL AND lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}`;

/** The part of a node that determines its place in a conversation. */
export type Turn = {
  readonly key: number;
  readonly owner: number;
  readonly content: string;
  readonly node_type: string;
  readonly session_id: string | null;
  readonly scope: string;
  readonly created_at: string;
  readonly event_time: string | null;
  readonly id: string;
};

/** The nodes of keys, in any state, in the order of the keys. */
export function readTurns(database: Database, keys: readonly number[]): readonly Turn[] {
  const columns = TURN.replaceAll(/\w+/g, "n.$&");
  return database
    .query<Turn, [string]>(
      `SELECT ${columns} FROM json_each(?) i CROSS JOIN nodes n ON n.key = i.value ORDER BY i.key`,
    )
    .all(JSON.stringify(keys));
}

/** The node of a key, in any state. */
export function readTurn(database: Database, key: number): Turn | undefined {
  return (
    database.query<Turn, [number]>(`SELECT ${TURN} FROM nodes WHERE key = ?`).get(key) ?? undefined
  );
}

/** Whether a node is a turn of a conversation, or was one before it became inactive. */
export function isOfConversation(turn: Turn): boolean {
  return turn.node_type === TURN_TYPE && turn.session_id !== null;
}

export type Neighbourhood = {
  /** Turns on either side, at least 1. */
  readonly reach: number;
  /** Which turns count as neighbours: a condition on `nodes`, as SQL. Default: all. */
  readonly among?: string;
};

/** The nearest turns of the same owner, session and scope, in order of (created_at, id). */
export function surround(database: Database, turn: Turn, around: Neighbourhood): Surrounded<Turn> {
  if (!isOfConversation(turn)) return { turn, before: [], after: [] };
  return {
    turn,
    before: neighbours(database, turn, "before", around),
    after: neighbours(database, turn, "after", around),
  };
}

/** The nodes and every turn around one of them, each once with its neighbours. Missing nodes are left out. */
export function surroundAll(
  database: Database,
  keys: Iterable<number>,
  around: Neighbourhood,
): ReadonlyMap<number, Surrounded<Turn>> {
  const found = new Map<number, Surrounded<Turn>>();
  for (const key of keys) {
    const turn = found.has(key) ? undefined : readTurn(database, key);
    if (turn !== undefined) found.set(key, surround(database, turn, around));
  }
  for (const { before, after } of [...found.values()]) {
    for (const beside of [...before, ...after]) {
      if (!found.has(beside.key)) found.set(beside.key, surround(database, beside, around));
    }
  }
  return found;
}

/** The turns around nodes that are no longer turns, each once. */
export function turnsAround(
  database: Database,
  gone: readonly Turn[],
  around: Neighbourhood,
): readonly Turn[] {
  const found = new Map<number, Turn>();
  let place: Surrounded<Turn> | undefined;
  for (const turn of gone.filter(isOfConversation).sort(byConversation)) {
    // If several were removed together, one query finds their neighbours.
    if (place !== undefined && isBeforeTheNext(place, turn)) continue;
    place = surround(database, turn, around);
    for (const beside of [...place.before, ...place.after]) found.set(beside.key, beside);
  }
  return [...found.values()];
}

/** Orders nodes by conversation, then by time. */
function byConversation(one: Turn, other: Turn): number {
  return (
    one.owner - other.owner ||
    compareUnits(one.session_id ?? "", other.session_id ?? "") ||
    compareUnits(one.scope, other.scope) ||
    byTime(one, other)
  );
}

function byTime(one: Turn, other: Turn): number {
  return compareUnits(one.created_at, other.created_at) || compareUnits(one.id, other.id);
}

/** Whether a node that is not a turn, and not before the middle of a window, precedes the conversation's next turn. */
function isBeforeTheNext({ turn: middle, after: [next] }: Surrounded<Turn>, turn: Turn): boolean {
  return isOfSame(middle, turn) && (next === undefined || byTime(turn, next) < 0);
}

/** What identifies the conversation of a turn. */
type Session = Pick<Turn, "owner" | "session_id" | "scope">;

/** Whether two turns belong to one conversation. */
export function isOfSame(one: Session, other: Session): boolean {
  return (
    other.owner === one.owner && other.session_id === one.session_id && other.scope === one.scope
  );
}

function neighbours(
  database: Database,
  turn: Turn,
  side: "before" | "after",
  { reach, among = IS_TURN }: Neighbourhood,
): readonly Turn[] {
  const [compare, order] = side === "before" ? ["<", "DESC"] : [">", "ASC"];
  return database
    .query<Turn, [number, string | null, string, string, string, number]>(
      `SELECT ${TURN} FROM nodes
       WHERE owner = ? AND session_id = ? AND scope = ? AND (created_at, id) ${compare} (?, ?) AND ${among}
       ORDER BY created_at ${order}, id ${order} LIMIT ?`,
    )
    .all(turn.owner, turn.session_id, turn.scope, turn.created_at, turn.id, reach);
}
