import { BLOCK_KEYS } from "../search/posting-blocks.ts";

/** Whether a node `n` has a vector, as SQL. */
export const HAS_VECTOR =
  "EXISTS (SELECT 1 FROM vectors v WHERE v.owner = n.owner AND v.key = n.key)";
/** Whether a node `n` has a lexical document, as SQL: two bytes for each key of a block, zero without one. */
export const HAS_DOCUMENT = `EXISTS (SELECT 1 FROM lexical_documents d WHERE d.owner = n.owner AND d.block = n.key / ${BLOCK_KEYS}
  AND substr(d.lengths, n.key % ${BLOCK_KEYS} * 2 + 1, 2) NOT IN ('', '\\x0000'))`;
