import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { everythingOf } from "../../../domain/candidate-filter.ts";
import type { NearNode, SearchIndex } from "../../../ports/store/search-index.ts";
import { readNodesByKey } from "../read/keyed-nodes.ts";
import { searchTexts } from "./search-vectors.ts";
import type { VectorReads } from "./vector-reads.ts";

/** What is looked for beside a vector. */
type NearQuestion = Parameters<SearchIndex<number>["nearNodes"]>[1];
type Choose = Parameters<SearchIndex<number>["nearNodes"]>[2];

/** See `nearNodes` of the port. The cosines are exact. */
export async function nearNodes(
  reads: VectorReads,
  vector: Float32Array,
  { userId, scope, count }: NearQuestion,
  choose: Choose,
): Promise<readonly NearNode<number>[]> {
  const filter: CandidateFilter = { ...everythingOf(userId), scopes: [scope] };
  const hits = await searchTexts(reads, { vector, filter, k: count });
  const keys = hits.map(({ key }) => key);
  const found = await reads.database.read(userId, (sql) => readNodesByKey(sql, userId, keys));
  const nodes = new Map(found.map(({ key, node }) => [key, node]));
  const nearest = hits.flatMap(({ key, score }) => {
    const node = nodes.get(key);
    return node === undefined ? [] : [{ key, node, cosine: score }];
  });
  return choose(nearest);
}
