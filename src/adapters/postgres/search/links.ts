/** `isLink` of an edge `e`, as SQL. Only metadata that may name an alias is read. */
export const IS_LINK = `(CASE WHEN e.edge_type <> 'relates_to' OR e.metadata IS NULL OR position('alias' IN e.metadata) = 0 THEN true
  ELSE NOT coalesce(e.metadata::json ->> 'relation' = 'alias' AND (e.metadata::json -> 'identity_verified')::text = 'false', false) END)`;
