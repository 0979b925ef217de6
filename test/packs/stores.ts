import { openConnection } from "../../src/adapters/postgres/connection/open-connection.ts";
import type { Sql } from "../../src/adapters/postgres/connection/sql.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import type { TransferRun } from "../../src/packs/migrate-database.ts";
import type { SqlitePack } from "../contract/sqlite-pack.ts";
import { databaseUrl, makeDatabase } from "../postgres/databases.ts";

/** The settings with which a program works on a pack. */
export function packConfig({ layout, encryptionKey }: SqlitePack): Config {
  const files =
    layout.kind === "file"
      ? { pack_path: layout.path }
      : {
          pack_path: "",
          db_path: layout.databasePath,
          vector_path: layout.vectorPath,
          lexical_path: layout.lexicalPath,
        };
  const key =
    encryptionKey === undefined ? {} : { encryption_enabled: true, encryption_key: encryptionKey };
  return loadConfig({ explicit: { ...files, ...key }, file: null }).config;
}

/** The settings with which a program works on a database. */
export function databaseConfig(url: string, partitions?: number): Config {
  const made = { database_url: url, pack_path: "", database_partitions: partitions };
  return loadConfig({ explicit: made, file: null }).config;
}

/** An empty database. @returns its address */
export async function emptyDatabase(): Promise<string> {
  return databaseUrl(await makeDatabase());
}

/** Runs statements on a database. */
export async function onDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = openConnection({
    ...{ url, poolSize: 1, prepare: false, statementTimeoutMs: 60_000 },
  });
  try {
    return await database.writeAny(work);
  } finally {
    await database.close();
  }
}

/** A run that nobody watches. @param stopAfter calls of its progress after which it is interrupted */
export function aRun(stopAfter = Number.POSITIVE_INFINITY): TransferRun {
  const controller = new AbortController();
  let calls = 0;
  return {
    signal: controller.signal,
    onProgress: () => {
      calls += 1;
      if (calls === stopAfter) controller.abort();
    },
  };
}

type Line = Readonly<Record<string, unknown>>;

/**
 * An export in which nothing shows how the pack numbers its rows: records name others by their ids, and are sorted by their own. Without
 * header and footer, in which times and checksums differ.
 */
export function unnumbered(text: string): readonly string[] {
  const lines: readonly Line[] = text
    .split("\n")
    .slice(1, -2)
    .map((line) => JSON.parse(line));
  const names = new Map<string, unknown>();
  const nameOf = (kind: string, key: unknown): unknown =>
    key === undefined ? undefined : (names.get(`${kind} ${key}`) ?? key);
  for (const { record, owner, key, user_id: userId, id } of lines) {
    if (record === "owner") names.set(`owner ${owner}`, userId);
    else names.set(`${record} ${key}`, id);
  }
  const plain = lines.map(({ key: _, ...line }) => ({
    ...line,
    owner: nameOf("owner", line["owner"]),
    event_key: nameOf("event", line["event_key"]),
    ...(Array.isArray(line["events"]) && {
      events: line["events"].map((each) => nameOf("event", each)).sort(),
    }),
    ...(Array.isArray(line["context"]) && {
      context: line["context"].map(({ node, ...each }) => ({
        ...each,
        node: nameOf("node", node),
      })),
    }),
    source: nameOf("node", line["source"]),
    target: nameOf("node", line["target"]),
    node_key: nameOf("node", line["node_key"]),
    ...(line["record"] === "vector" && {
      created_at: "",
      embedding: [...numbersOf(line["embedding"])].map((number) => number + 0),
    }),
  }));
  return plain.map((line) => JSON.stringify(line)).sort();
}

/** The numbers of a vector as an export has it. */
function numbersOf(embedding: unknown): Float32Array {
  return new Float32Array(Uint8Array.fromBase64(String(embedding)).buffer);
}
