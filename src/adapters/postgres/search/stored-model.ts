import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { Params } from "../connection/params.ts";

/** A table expression `stored` of one row, as SQL: whether the vectors of the database are of a model (`fits`). */
export function storedModel(
  params: Params,
  { model, version, dimension }: EmbeddingIdentity,
): string {
  return `stored AS MATERIALIZED (
    SELECT value::json ->> 'model' = ${params.add(model)} AND value::json ->> 'version' = ${params.add(version)}
      AND (value::json ->> 'dimension')::integer = ${params.add(dimension)} AS fits
    FROM (SELECT value::json -> 'embedding' AS value FROM settings WHERE name = 'manifest') s)`;
}
