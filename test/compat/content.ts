import type { Database } from "bun:sqlite";
import type { PackLayout } from "../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { hashRows } from "../../src/adapters/sqlite/copy/compare.ts";

/** The key of the encrypted packs: bytes 00 to 1f. Protects nothing. */
export const COMPAT_KEY = `raw_key:${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString("base64url")}`;

/** The tables that hold what cannot be made again. */
const TABLES = ["owners", "events", "operations", "nodes", "edges"] as const;

type TableContent = {
  readonly rows: number;
  readonly sha256: string;
  /** Those that the version wrote; later versions may add some. */
  readonly columns: readonly string[];
};

/** What a pack of an earlier version holds. */
export type CompatContent = {
  readonly tables: Readonly<Record<string, TableContent>>;
  readonly events: readonly {
    readonly id: string;
    readonly userId: string;
    readonly content: string;
  }[];
};

/**
 * Reads the content of a pack.
 * @param known what to compare it with later: only its columns are looked at.
 */
export function readContent(
  layout: PackLayout,
  masterKey: Uint8Array | undefined,
  known?: CompatContent,
): CompatContent {
  const database = openPack(layout, masterKey);
  try {
    const tables = TABLES.map((table): [string, TableContent] => {
      const columns =
        known?.tables[table]?.columns ??
        database
          .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
          .all(table)
          .map(({ name }) => name);
      database.run(`CREATE TEMP VIEW seen AS SELECT ${columns.join(", ")} FROM main.${table}`);
      const hashed = hashRows({ database, schema: "temp" }, "seen", "1");
      database.run("DROP VIEW temp.seen");
      return [table, { ...hashed, columns }];
    });
    const events = database
      .query<CompatContent["events"][number], []>(
        `SELECT e.id, o.user_id AS userId, e.content FROM events e JOIN owners o ON o.owner = e.owner ORDER BY e.key`,
      )
      .all();
    return { tables: Object.fromEntries(tables), events };
  } finally {
    database.close();
  }
}

/** Opens the files of a pack for writing. */
function openPack(layout: PackLayout, masterKey: Uint8Array | undefined): Database {
  return openDatabase({
    layout,
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 1000,
    cipher: masterKey && { masterKey },
  });
}
