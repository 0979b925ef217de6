import { constants, type Database } from "bun:sqlite";
import { LIMITS } from "../../domain/arguments.ts";
import { asBeginning, beginning, type Whole } from "../../domain/beginning.ts";
import { nodeForm } from "../../domain/node.ts";
import { storedColumns } from "../../domain/records/rows.ts";
import { withWordsOf } from "../../domain/search/turns.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type {
  KeyedNode,
  MakePastIndex,
  PastIndex,
  PastPage,
} from "../../ports/store/search-index.ts";
import type { Clock } from "../../ports/system.ts";
import { openSqlite } from "../native/load-library.ts";
import { writeEdge } from "../sql/edges.ts";
import { ensureOwner } from "../sql/owners.ts";
import { nodeValues } from "../sql/rows.ts";
import { snowball } from "../stemming/stem.ts";
import { kernelOn } from "./connection/kernel-on.ts";
import { run } from "./connection/run.ts";
import { migrate } from "./schema/migrate.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { ResidentVectors } from "./vectors/resident.ts";
import { putVectors } from "./vectors/write-vectors.ts";
import { writeDocuments } from "./write/lexical-index.ts";
import { ACTIVE } from "./write/turns.ts";

const LAYOUT = { kind: "file", path: ":memory:" } as const;
const COLUMNS = ["key", "id", "owner", ...storedColumns(nodeForm)];
const INSERT = `INSERT INTO nodes (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})
  RETURNING lifecycle_state IN ${ACTIVE} AS active`;

/** Makes an in-memory pack of an owner's memories at an earlier moment, which is searched like the current one. */
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
  const wholes = new Map<Uuid, Whole>();
  const close = async () => {
    resident.clear();
    database.close();
  };
  try {
    database.run("PRAGMA temp_store = MEMORY");
    kernelOn(database);
    const manifest = { softwareVersion: "", scoringVersion: "", embedding };
    migrate(database, LAYOUT, manifest, clock.now());
    for await (const page of pages) {
      await withWordsOf(page.nodes, snowball, async () =>
        database.transaction(() => write(database, page))(),
      );
      shorten(database, page, wholes);
      // Yields in between.
      await nextTurn();
    }
  } catch (error) {
    await close();
    throw error;
  }
  const unneeded = async () => {};
  const store = createSqliteStore({
    access: {
      read: async (work) => work(database, resident),
      write: async (work) => database.transaction(() => work(database))(),
      held: () => undefined,
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
  const noted = <T extends Pick<KeyedNode, "node">>(found: readonly T[]): readonly T[] => {
    for (const { node } of found) {
      const whole = wholes.get(node.id);
      if (whole !== undefined) asBeginning(node, whole);
    }
    return found;
  };
  return {
    ...store,
    nodesByKey: async (...given) => noted(await store.nodesByKey(...given)),
    nodesById: async (...given) => noted(await store.nodesById(...given)),
    sessionWindows: async (...given) => {
      const windows = await store.sessionWindows(...given);
      for (const { before, after } of windows.values()) noted([...before, ...after]);
      return windows;
    },
  };
}

/** Keeps the part of long texts that a question reads, once their words are indexed. */
function shorten(database: Database, { nodes }: PastPage, wholes: Map<Uuid, Whole>): void {
  const update = database.query("UPDATE nodes SET content = ? WHERE key = ?");
  for (const { key, node } of nodes) {
    const { id, content } = node;
    if (content.length <= LIMITS.contextTextChars) continue;
    wholes.set(id, { content: content.length, sha256: sha256Hex(content) });
    update.run(beginning(content, LIMITS.contextTextChars + 1), key);
  }
}

function write(database: Database, { nodes, edges }: PastPage): void {
  const insert = database.query<{ active: number }, (string | number | null)[]>(INSERT);
  const keep = database.query<unknown, [number, number, Uint8Array]>(
    "INSERT INTO vector_parts (node_key, owner, parts) VALUES (?, ?, ?)",
  );
  const active = nodes.filter(({ node, key, parts }) => {
    const owner = Number(run(database, ensureOwner(node.userId)));
    citeEvents(database, owner, node);
    const isActive = insert.get(key, node.id, owner, ...nodeValues(node))?.active === 1;
    if (isActive && parts !== undefined) keep.run(key, owner, parts);
    return isActive;
  });
  const entries = active.flatMap(({ key, vector, node }) =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content) }],
  );
  putVectors(database, entries);
  writeDocuments(
    database,
    active.flatMap(({ key, hasWords }) => (hasWords ? [key] : [])),
  );
  for (const edge of edges) run(database, writeEdge(edge));
}

/** Which memories cite the same event follows from the events. */
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
