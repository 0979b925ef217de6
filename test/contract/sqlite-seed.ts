import type { Database } from "bun:sqlite";
import { writeNodes } from "../../src/adapters/sql/change.ts";
import { ownerKey } from "../../src/adapters/sqlite/connection/ask.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { run as steps } from "../../src/adapters/sqlite/connection/run.ts";
import { MASTER_KEY, type SqlitePack, storeOptions } from "./sqlite-pack.ts";
import type { StorePlace } from "./store-contract.ts";

type SqliteSeed = StorePlace["seed"];

const INSERT_EDGE = `INSERT INTO edges
  (id, owner, source, target, edge_type, confidence, valid_from, valid_to, metadata, created_at)
  SELECT ?1, o.owner, s.key, t.key, ?5, ?6, ?7, ?8, ?9, ?10
  FROM owners o, nodes s, nodes t WHERE o.user_id = ?2 AND s.id = ?3 AND t.id = ?4`;

/** Opens a connection of its own to a pack, runs statements and closes it. */
export function onPack<T>(pack: SqlitePack, run: (database: Database) => T): T {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  const database = openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
  try {
    return run(database);
  } finally {
    database.close();
  }
}

/** What the contract suite writes past the store, through a connection that the caller has. */
export function seedOn(database: Database): SqliteSeed {
  return {
    nodes: (nodes) => {
      database.transaction(() => {
        for (const node of nodes) {
          steps(database, writeNodes(ownerKey(database, node.userId) ?? 0, [node]));
        }
      })();
    },
    edges: (edges) => {
      const insert = database.query(INSERT_EDGE);
      database.transaction(() => {
        for (const edge of edges) {
          const { id, userId, sourceId, targetId, edgeType, confidence, validFrom } = edge;
          const metadata = edge.metadata === undefined ? null : JSON.stringify(edge.metadata);
          const ends = [userId, sourceId, targetId, edgeType];
          const validTo = edge.validTo ?? null;
          insert.run(id, ...ends, confidence, validFrom, validTo, metadata, edge.createdAt);
        }
      })();
    },
  };
}

/** The same through a connection for each call. */
export function seedInto(pack: SqlitePack): SqliteSeed {
  return {
    nodes: (nodes) => onPack(pack, (database) => seedOn(database).nodes(nodes)),
    edges: (edges) => onPack(pack, (database) => seedOn(database).edges(edges)),
  };
}
