import { constants, type Database } from "bun:sqlite";
import { nodeForm } from "../../domain/node.ts";
import { storedColumns } from "../../domain/records/rows.ts";
import { withWordsOf } from "../../domain/search/turns.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { MakePastIndex, PastIndex, PastPage } from "../../ports/store/search-index.ts";
import type { Clock } from "../../ports/system.ts";
import { loadInto, loadSqliteVec, openSqlite, SQLITE_VEC } from "../native/load-library.ts";
import { writeEdge } from "../sql/edges.ts";
import { nodeValues } from "../sql/rows.ts";
import { snowball } from "../stemming/stem.ts";
import { kernelOn } from "./connection/kernel-on.ts";
import { run } from "./connection/run.ts";
import { migrate } from "./schema/migrate.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { ResidentVectors } from "./vectors/resident.ts";
import { putVectors } from "./vectors/write-vectors.ts";
import { writeDocuments } from "./write/lexical-index.ts";
import { ensureOwner } from "./write/owners.ts";
import { ACTIVE } from "./write/turns.ts";

const LAYOUT = { kind: "file", path: ":memory:" } as const;
const COLUMNS = ["key", "id", "owner", ...storedColumns(nodeForm)];
const INSERT = `INSERT INTO nodes (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})
  RETURNING lifecycle_state IN ${ACTIVE} AS active`;

/** Makes a pack in memory of the memories of an owner at an earlier moment: they are searched as those of now are. */
export function pastIndexes(clock: Clock): MakePastIndex {
  return (embedding, pages) => createPastIndex(clock, embedding, pages);
}

async function createPastIndex(
  clock: Clock,
  embedding: EmbeddingIdentity,
  pages: AsyncIterable<PastPage>,
): Promise<PastIndex> {
  const database = openSqlite(
    LAYOUT.path,
    constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE,
  );
  const resident = new ResidentVectors();
  const close = async () => {
    resident.clear();
    database.close();
  };
  try {
    loadInto(database, { ...SQLITE_VEC, path: loadSqliteVec() });
    database.run("PRAGMA temp_store = MEMORY");
    kernelOn(database);
    const manifest = { softwareVersion: "", scoringVersion: "", embedding };
    migrate(database, LAYOUT, manifest, clock.now());
    for await (const page of pages) {
      await withWordsOf(page.nodes, snowball, async () =>
        database.transaction(() => write(database, page, embedding, clock))(),
      );
      // Others are served in between.
      await nextTurn();
    }
  } catch (error) {
    await close();
    throw error;
  }
  const unneeded = async () => {};
  return createSqliteStore({
    access: {
      read: async (work) => work(database, resident),
      write: async (work) => database.transaction(() => work(database))(),
      purge: async () => true,
      lock: unneeded,
      unlock: unneeded,
      close,
    },
    layout: LAYOUT,
    embedding,
    isEncrypted: false,
    clock,
  });
}

function write(
  database: Database,
  { nodes, edges }: PastPage,
  embedding: EmbeddingIdentity,
  clock: Clock,
): void {
  const insert = database.query<{ active: number }, (string | number | null)[]>(INSERT);
  const keep = database.query<unknown, [number, number, Uint8Array]>(
    "INSERT INTO vector_parts (node_key, owner, parts) VALUES (?, ?, ?)",
  );
  const at = clock.now();
  const active = nodes.filter(({ node, key, parts }) => {
    const owner = ensureOwner(database, node.userId);
    citeEvents(database, owner, node);
    const isActive = insert.get(key, node.id, owner, ...nodeValues(node))?.active === 1;
    if (isActive && parts !== undefined) keep.run(key, owner, parts);
    return isActive;
  });
  const entries = active.flatMap(({ key, vector, node }) =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content), at }],
  );
  putVectors(database, entries, embedding);
  writeDocuments(
    database,
    active.flatMap(({ key, hasWords }) => (hasWords ? [key] : [])),
  );
  for (const edge of edges) run(database, writeEdge(edge));
}

/** Which memories cite the same event is read off the events. */
function citeEvents(
  database: Database,
  owner: number,
  { evidenceRefs, scope, createdAt }: PastPage["nodes"][number]["node"],
): void {
  for (const id of evidenceRefs) {
    database
      .query(
        `INSERT INTO events (id, owner, scope, role, content, content_hash, timestamp)
         SELECT ?1, ?2, ?3, 'user', '', '', ?4 WHERE NOT EXISTS (SELECT 1 FROM events WHERE id = ?1)`,
      )
      .run(id, owner, scope, createdAt);
  }
}
