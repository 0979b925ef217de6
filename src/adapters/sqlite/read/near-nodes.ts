import type { Database } from "bun:sqlite";
import { bestFirst } from "../../../domain/search/bm25.ts";
import type { Hit, NearNode, SearchIndex } from "../../../ports/store/search-index.ts";
import { Codes } from "../../native/codes.ts";
import { loadKernel, type Slab } from "../../native/kernel.ts";
import { readAnyKeyed } from "../../sql/nodes.ts";
import { ownerKey } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { likelyOf } from "../vectors/codes.ts";
import { exactCosines } from "../vectors/exact.ts";
import type { ResidentVectors } from "../vectors/resident.ts";
import { searchIndex } from "./search-vectors.ts";

/** Rows examined for each near node wanted; that many more for each if a filter leaves too few. */
const LOOKS_PER_NEAR = [4, 128] as const;

/** Reads ahead what an owner's next `nearNodes` needs before it compares anything. */
export function readyForNear(database: Database, userId: string, resident: ResidentVectors): void {
  const owner = ownerKey(database, userId);
  if (owner !== undefined) resident.refresh(database, owner);
}

/** Conditions of the search besides the vector. */
type NearQuestion = Parameters<SearchIndex<number>["nearNodes"]>[1];
type Choose = Parameters<SearchIndex<number>["nearNodes"]>[2];

/** See `nearNodes` of the port. Costs a fifth of `searchVectors`. Runs inside a read transaction. */
export function nearNodes(
  database: Database,
  vector: Float32Array,
  question: NearQuestion,
  choose: Choose,
  resident: ResidentVectors,
): readonly NearNode<number>[] {
  const owner = ownerKey(database, question.userId);
  if (owner === undefined) return [];
  const held = resident.vectorsOf(database, owner, vector.length);
  const nearby =
    held instanceof Codes
      ? (wanted: number) => nearbyCodes(database, owner, held, { question: vector, wanted })
      : held && ((wanted: number) => held.nearby(vector, wanted));
  const candidates =
    (nearby && nearInMemory(database, nearby, question)) ??
    nearInIndex(database, owner, vector, question);
  const chosen = choose(candidates);
  const keys = chosen.map(({ key }) => key);
  const exact = new Map(
    exactCosines(database, vector, owner, keys).map(({ key, score }) => [key, score]),
  );
  return chosen.flatMap((near) => {
    const cosine = exact.get(near.key);
    return cosine === undefined ? [] : [{ ...near, cosine }];
  });
}

/** Codes compared exactly: in these the nearest few are found. */
const LIKELY_MIN = 200;

function nearbyCodes(
  database: Database,
  owner: number,
  codes: Codes,
  { question, wanted }: { readonly question: Float32Array; readonly wanted: number },
): readonly Hit<number>[] | undefined {
  const kernel = loadKernel();
  if (kernel === undefined) return undefined;
  const looks = { question, wanted: Math.max(wanted, LIKELY_MIN) };
  const keys = likelyOf(database, { kernel, owner }, codes, looks).map(({ key }) => key);
  return exactCosines(database, question, owner, keys).sort(bestFirst).slice(0, wanted);
}

type Nearby = (wanted: number) => ReturnType<Slab["nearby"]>;

function nearInMemory(
  database: Database,
  nearby: Nearby,
  question: NearQuestion,
): readonly NearNode<number>[] | undefined {
  const { count } = question;
  const found: NearNode<number>[] = [];
  let looked = 0;
  for (const looks of LOOKS_PER_NEAR) {
    const hits = nearby(looks * count);
    if (hits === undefined) return undefined;
    // Usually the first few suffice, and reading a node costs more than finding it.
    while (looked < hits.length && found.length < count) {
      found.push(...withNodes(database, hits.slice(looked, looked + count), question));
      looked += count;
    }
    if (found.length >= count) break;
  }
  return found.slice(0, count);
}

function nearInIndex(
  database: Database,
  owner: number,
  vector: Float32Array,
  question: NearQuestion,
): readonly NearNode<number>[] {
  const narrowed = { sql: "n.scope = ?", parameters: [question.scope] };
  const hits = searchIndex(database, { vector, owner, narrowed, k: question.count });
  return withNodes(database, hits, question);
}

/** The hits that are active nodes of the owner and scope, with the nodes. */
function withNodes(
  database: Database,
  hits: readonly Hit<number>[],
  { userId, scope }: NearQuestion,
): readonly NearNode<number>[] {
  const keys = hits.map(({ key }) => key);
  const nodes = new Map(
    run(database, readAnyKeyed(userId, "key", keys)).map(({ key, node }) => [key, node]),
  );
  return hits.flatMap(({ key, score: cosine }) => {
    const node = nodes.get(key);
    return node?.scope === scope ? [{ key, node, cosine }] : [];
  });
}
