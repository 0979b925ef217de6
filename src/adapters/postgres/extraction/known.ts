import { formsOf, mayMean } from "../../../domain/extraction/plan/claims.ts";
import { nameKey } from "../../../domain/extraction/plan/context.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import type { KnownHooks, Place } from "../../sql/known.ts";
import { all, type Steps, statement } from "../../sql/statement.ts";

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

export const knownHooks: KnownHooks = { entities, claims };
