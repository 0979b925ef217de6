import type { Cipher } from "../../../src/adapters/sqlite/connection/pack-files.ts";
import { sameKey } from "../../../src/adapters/sqlite/copy/copy-pack.ts";
import { type Rewritten, rewritePack } from "../../../src/adapters/sqlite/copy/rewrite-pack.ts";
import type { CandidateFilter } from "../../../src/domain/candidate-filter.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { at, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  openSqlitePack,
  type SqlitePack,
} from "../../contract/sqlite-pack.ts";
import { aReceipt } from "../../contract/store-receipts.ts";

/** Every kind of pack that is worked on as a whole. */
export const KINDS: readonly { readonly name: string; at(folder: string): SqlitePack }[] = [
  { name: "a file", at: filePack },
  { name: "an encrypted file", at: (folder) => encrypted(filePack(folder)) },
  { name: "a directory", at: directoryPack },
  { name: "an encrypted directory", at: (folder) => encrypted(directoryPack(folder)) },
];

/** Two kinds that differ in both: what is the same code for every kind is tried with these. */
export const BOTH_KINDS = [KINDS[0]!, KINDS[3]!] as const;

/** What opens a pack of these tests. */
export function cipherOf(pack: SqlitePack): Cipher | undefined {
  return pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
}

/** The request of the one receipt in each pack. */
const REQUEST = asUuid("0190aaaa-0000-7000-8000-00000000000a");

/** Makes a pack with memories and a receipt. */
export async function makePack(pack: SqlitePack, count = 60): Promise<void> {
  const store = await openSqlitePack(pack);
  for (let second = 0; second < count; second += 1) {
    const content = `memory ${second} of green tea ${"and so on ".repeat(50)}`;
    await put(store, { second, content, vector: unit(second + 1, 2, 3), sessionId: "s" });
  }
  const body = new TextEncoder().encode('{"score":0.25}'.repeat(count));
  await store.saveReceipt(aReceipt({ requestId: REQUEST, createdAt: at(count), body }));
  await store.close();
}

/** What a pack answers: counts, words found, vectors found, its receipt. Equal before and after work on the whole pack. */
export async function answers(pack: SqlitePack): Promise<unknown> {
  const store = await openSqlitePack(pack);
  try {
    return await answersOf(store);
  } finally {
    await store.close();
  }
}

async function answersOf(store: Store): Promise<unknown> {
  // SAFETY: the searches read no more of a filter than this.
  const filter = { userId: "ada" } as CandidateFilter;
  return {
    events: await store.events({ userId: "ada", limit: 1000, offset: 0 }),
    nodes: await store.countNodes(ALL_OWNERS),
    words: await store.searchText("memory 17 tea", filter, 5),
    vectors: await store.searchVectors(unit(9, 2, 3), filter, 5),
    receipt: await store.receipt(REQUEST, "ada"),
    manifest: (await store.manifest()).createdAt,
  };
}

/** Compacts a pack as the command does. */
export function compact(pack: SqlitePack, cipher = cipherOf(pack)): Promise<Rewritten> {
  return rewritePack({
    layout: pack.layout,
    cipher,
    purpose: "compact",
    keyFor: (file) => sameKey(file, cipher),
  });
}
