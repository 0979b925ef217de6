import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import type { Connection } from "../../../src/adapters/sqlite/connection/open-reading.ts";
import { exportLines, readSnapshot } from "../../../src/adapters/sqlite/transfer/export-lines.ts";
import { importPack } from "../../../src/adapters/sqlite/transfer/import.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { EmbeddingIdentity } from "../../../src/ports/models.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  DIMENSION,
  freshId,
  put,
  unit,
} from "../../contract/samples.ts";
import { MASTER_KEY, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { aBlob } from "../../contract/store-blobs.ts";
import { aReceipt, saveShown } from "../../contract/store-receipts.ts";

export const IDENTITY: EmbeddingIdentity = {
  model: "hand-made",
  version: "1",
  dimension: DIMENSION,
};

/** How to connect to a pack of these tests. */
export function connectionOf(pack: SqlitePack): Connection {
  return {
    synchronous: "normal",
    busyTimeoutMs: 1000,
    cipher: pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY },
  };
}

/** The whole export of a pack. */
export function exported(pack: SqlitePack, withVectors = true): string {
  const choices = { withVectors, softwareVersion: "1.2.3", exportedAt: at(60) };
  const pieces = readSnapshot(pack.layout, connectionOf(pack), (database) =>
    exportLines(database, choices),
  );
  return [...pieces].join("");
}

/** Imports a text, handed over in chunks of `chunkBytes`. */
export function imported(
  pack: SqlitePack,
  text: string | Uint8Array,
  given: {
    readonly embedding?: EmbeddingIdentity;
    readonly chunkBytes?: number;
    readonly blobMaxBytes?: number;
  } = {},
): ReturnType<typeof importPack> {
  const { embedding = IDENTITY, chunkBytes = 1000, blobMaxBytes = 1024 } = given;
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += chunkBytes) {
      yield bytes.slice(from, from + chunkBytes);
    }
  }
  mkdirSync(dirname(mainPath(pack.layout)), { recursive: true });
  if (pack.layout.kind === "directory") mkdirSync(pack.layout.lexicalPath, { recursive: true });
  return importPack({
    layout: pack.layout,
    connection: connectionOf(pack),
    source: source(),
    name: "the file",
    modelFor: () => embedding,
    softwareVersion: "1.2.3",
    now: at(120),
    blobMaxBytes,
    signal: undefined,
    onProgress: () => {},
  });
}

/** Fills a pack with records of every kind and of every shape that a column may have. */
export async function fillRichly(store: Store, pack: SqlitePack): Promise<void> {
  const [first, second] = await put(
    store,
    { content: "alpha tea", sessionId: "s", second: 1, vector: unit(1) },
    { content: "bravo coffee", sessionId: "s", second: 2, vector: unit(0, 1), ttlDays: 0 },
    { content: "charlie 東京", sessionId: "s", second: 3, vector: unit(1, 1), pinned: true },
    { content: "old news", lifecycleState: "superseded", second: 4 },
    { content: "no vector yet", userId: "bob", second: 6, confidence: 1 / 3, validTo: at(99) },
  );
  const blank = anEvent({ content: " \t", timestamp: at(5) });
  await store.admit(anAdmission([blank]));
  await store.materialize([aMaterialization(blank, aNode(blank), { lexical: false })]);
  const awkward = anEvent({
    content: 'line one\nline two\u0000 "quoted" \u2028 👩‍👩‍👧',
    metadata: { list: [1, 2.5, null, true, ""], deep: { ключ: { a: 1e-7 } }, "": 0 },
    eventTime: at(-86_400),
    timestamp: at(0.000_001),
  });
  const operations = [
    anAuditRecord({ namespaceId: "n", payload: { nested: { list: [] }, text: "ü" } }),
    anAuditRecord(),
  ];
  const empty = anEvent({ content: "" });
  const blobs = [
    ...[aBlob({ event: awkward.id }), aBlob({ event: empty.id })],
    aBlob({
      event: empty.id,
      key: "frames/0b.png",
      bytes: new Uint8Array(1),
      mediaType: "image/png",
    }),
  ];
  await store.admit(anAdmission([awkward, empty], { auditRecords: operations, blobs }));
  await saveShown(store, aReceipt({ createdAt: at(9) }), [
    { nodeId: first?.id ?? freshId(), rank: 1, representation: "full" },
  ]);
  const long = new TextEncoder().encode('{"score":0.25}'.repeat(300));
  await store.saveReceipt(aReceipt({ body: long, userId: "bob" }));
  await store.claimJobs(ALL_OWNERS, 1);
  await store.failJobs([awkward.id], "embedding_failed", at(7));
  const { layout } = pack;
  const database = openDatabase({ ...connectionOf(pack), layout, mode: "read-write" });
  database
    .query(
      `INSERT INTO edges (key, id, owner, source, target, edge_type, confidence, valid_from, metadata, created_at)
       SELECT 7, '01900000-0000-7000-8000-00000000eeee', a.owner, a.key, b.key, 'supports', 0.1, ?3, '{"why":[]}', ?3
       FROM nodes a, nodes b WHERE a.id = ?1 AND b.id = ?2`,
    )
    .run(first?.id ?? "", second?.id ?? "", at(8));
  database.close();
}
