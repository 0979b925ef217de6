import type { LifecycleState } from "../../domain/enums.ts";
import type { PageForm } from "../../domain/search/pages.ts";
import type { ChangeLog, LoggedChange } from "../../ports/store/records.ts";
import { NODE_COLUMNS, NODE_PAGE, type NodeRow } from "./rows.ts";
import * as sql from "./statement.ts";

type LoggedRow = Pick<LoggedChange, "place" | "at"> & {
  readonly node: LoggedChange["nodeId"];
  readonly was: LifecycleState | null;
  readonly state: LifecycleState | null;
} & (NodeRow | { readonly id: null });

const CHANGE_PAGE: PageForm<LoggedRow, LoggedChange> = {
  toItem: ({ place, node: nodeId, was, state, at, ...row }) => {
    const node = row.id === null ? undefined : NODE_PAGE.toItem(row);
    return { place, nodeId, was: was ?? undefined, state: state ?? undefined, at, node };
  },
  charsOf: (row) => (row.id === null ? 0 : NODE_PAGE.charsOf(row)),
};

const AFTER = sql.statement(
  `SELECT c.key AS place, c.node, c.was, c.state, c.at, ${NODE_COLUMNS} FROM changes c
     JOIN owners o ON o.owner = c.owner LEFT JOIN nodes n ON n.owner = c.owner AND n.id = c.node
   WHERE c.owner = $1::bigint AND c.key > $2::integer ORDER BY c.key LIMIT $3`,
);
const NEWEST = sql.statement(
  "SELECT coalesce(max(key), 0) AS newest FROM changes WHERE owner = $1::bigint",
);

/** Triggers write the log. */
export function bindChanges({ read }: sql.Access): ChangeLog {
  return { changesAfter: (wanted) => read(wanted.userId, () => readChangesAfter(wanted)) };
}

type Wanted = Parameters<ChangeLog["changesAfter"]>[0];
type Found = Awaited<ReturnType<ChangeLog["changesAfter"]>>;

function* readChangesAfter({ userId, after, limit }: Wanted): sql.Steps<Found> {
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const { newest } = (yield* sql.get<{ newest: number }>(NEWEST, owner)) ?? { newest: 0 };
  const place = after ?? newest;
  return { ...(yield* sql.page(CHANGE_PAGE, limit, AFTER, owner, place, limit + 1)), newest };
}

const JOINED = sql.statement(
  `INSERT INTO changes (owner, key, node, was, state, at)
   SELECT $2::bigint, row_number() OVER (ORDER BY n.key)
       + (SELECT coalesce(max(c.key), 0) FROM changes c WHERE c.owner = $2::bigint), n.id, NULL, n.lifecycle_state, n.updated_at
     FROM nodes n WHERE n.owner = $1::bigint`,
);
const FORGET = sql.statement("DELETE FROM changes WHERE owner = $1::bigint");

/** Lists the memories of one owner as new ones of another, who is about to get them. Runs inside a write transaction of both. */
export function* joinChanges(from: sql.OwnerKey, into: sql.OwnerKey): sql.Steps<void> {
  yield* sql.run(JOINED, from, into);
  yield* sql.run(FORGET, from);
}
