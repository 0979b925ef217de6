import { databasePlace } from "../../../domain/addresses.ts";
import { SvcError } from "../../../domain/errors.ts";
import {
  ALL_OWNERS,
  type Namespace,
  type RegisteredNamespace,
  workspaceDamaged,
} from "../../../domain/owner.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import { sqlList } from "../../sql/dialect.ts";
import { type ConnectionOptions, openConnection, quoted } from "../connection/open-connection.ts";
import { probeServer } from "../connection/probe-server.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { RESTORE, requireVectors } from "../schema/migrate.ts";
import { DATABASE_TABLES } from "../transfer/record-tables.ts";

const CATALOG = "svc_workspace";
const PREFIX = "svc_ns_";
const VERSION = "1";
/** Advisory lock for concurrent changes of a catalogue. */
const CATALOG_LOCK = 0x53564357;

/** The namespaces of a database, each with its own schema. Any number of processes may use one. */
export type Catalog = {
  /** Names the database to a person. */
  readonly place: string;
  find(name: string): Promise<RegisteredNamespace | undefined>;
  /** Also creates the schema. A name registered meanwhile by another process keeps its id. */
  register(namespace: Namespace): Promise<void>;
  markInitialized(id: Uuid): Promise<void>;
  /** By name, in code-point order. */
  list(): Promise<readonly Namespace[]>;
  /** Where a namespace's tables are created, and where the types of pgvector are. */
  searchPath(id: Uuid): readonly string[];
  close(): Promise<void>;
};

type CatalogOptions = Pick<ConnectionOptions, "url" | "statementTimeoutMs">;

/** Calls of a catalogue are few and short. */
const POOL_SIZE = 2;

/**
 * Opens the catalogue of a database, creating it if missing.
 * @throws SvcError workspace_damaged; unsupported without pgvector, behind a pooler that drops settings, or next to svc tables outside of
 * namespaces; storage_failed, storage_busy, storage_unavailable
 */
export async function openCatalog(options: CatalogOptions): Promise<Catalog> {
  const place = databasePlace(options.url);
  const sizes = { ...options, poolSize: POOL_SIZE };
  await probeServer({ ...sizes, searchPath: [CATALOG] });
  const database = openConnection({ ...sizes, prepare: false });
  try {
    const types = await database.writeAny((sql) => setUp(sql, place));
    return catalogOn(database, place, types);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function catalogOn(database: Database, place: string, types: string): Catalog {
  type Row = { readonly name: string; readonly id: string; readonly initialized: boolean };
  const toNamespace = ({ name, id }: Row): Namespace => ({ name, id: asUuid(id) });
  const rows = (tail: string, ...values: string[]): Promise<Row[]> =>
    database.read(ALL_OWNERS, (sql) =>
      sql.all<Row>(
        `SELECT name, id::text AS id, initialized FROM ${CATALOG}.namespaces ${tail}`,
        ...values,
      ),
    );
  return {
    place,
    find: async (name) => {
      const [row] = await rows("WHERE name = $1", name);
      return row && { ...toNamespace(row), isInitialized: row.initialized };
    },
    register: ({ name, id }) =>
      database.writeAny(async (sql) => {
        const isNew = await sql.run(
          `INSERT INTO ${CATALOG}.namespaces (name, id) VALUES ($1, $2::uuid) ON CONFLICT (name) DO NOTHING`,
          name,
          id,
        );
        if (isNew > 0) await sql.run(`CREATE SCHEMA ${schemaOf(id)}`);
      }),
    markInitialized: (id) =>
      database.writeAny(async (sql) => {
        await sql.run(
          `UPDATE ${CATALOG}.namespaces SET initialized = true WHERE id = $1::uuid`,
          id,
        );
      }),
    list: async () => (await rows("ORDER BY name")).map(toNamespace),
    searchPath: (id) => [schemaOf(id), types],
    close: () => database.close(),
  };
}

/** Names are arbitrary, so a schema is named by id. */
function schemaOf(id: string): string {
  return `${PREFIX}${id.replaceAll("-", "")}`;
}

/** @returns the schema with the types of pgvector */
async function setUp(sql: Sql, place: string): Promise<string> {
  await sql.run("SELECT pg_advisory_xact_lock($1)", CATALOG_LOCK);
  const found = await sql.get("SELECT 1 FROM pg_namespace WHERE nspname = $1", CATALOG);
  if (found === undefined) await makeCatalog(sql);
  await requireCatalog(sql, `${place}#${CATALOG}`);
  await requireVectors(sql, place);
  const row = await sql.get<{ name: string }>(
    "SELECT n.nspname::text AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
  );
  const types = row?.name ?? "public";
  await requireNoTables(sql, place, types);
  return types;
}

async function makeCatalog(sql: Sql): Promise<void> {
  await sql.run(`CREATE SCHEMA ${CATALOG}`);
  await sql.run(`CREATE TABLE ${CATALOG}.metadata (version integer NOT NULL)`);
  await sql.run(`INSERT INTO ${CATALOG}.metadata VALUES (${VERSION})`);
  await sql.run(`CREATE TABLE ${CATALOG}.namespaces (
    name text COLLATE "C" PRIMARY KEY, id uuid NOT NULL UNIQUE, initialized boolean NOT NULL DEFAULT false)`);
}

/** @throws SvcError workspace_damaged unless the catalogue is of this version and lists every namespace schema */
async function requireCatalog(sql: Sql, place: string): Promise<void> {
  const tables = await sql.get<{ found: boolean }>(
    `SELECT to_regclass('${CATALOG}.metadata') IS NOT NULL AND to_regclass('${CATALOG}.namespaces') IS NOT NULL AS found`,
  );
  if (tables?.found !== true)
    throw workspaceDamaged(place, "has lost its tables", { advice: RESTORE });
  const versions = await sql.all<{ version: string }>(
    `SELECT version::text FROM ${CATALOG}.metadata`,
  );
  if (versions.length !== 1 || versions[0]?.version !== VERSION) {
    throw workspaceDamaged(place, "is the registry of another version of svc", { advice: RESTORE });
  }
  const lost = await sql.get<{ name: string }>(
    `SELECT nspname::text AS name FROM pg_namespace WHERE nspname ~ '^${PREFIX}[0-9a-f]{32}$' AND NOT EXISTS (
       SELECT 1 FROM ${CATALOG}.namespaces WHERE '${PREFIX}' || replace(id::text, '-', '') = nspname) ORDER BY 1`,
  );
  if (lost === undefined) return;
  throw workspaceDamaged(place, `does not name the schema ${lost.name}`, { advice: RESTORE });
}

/** svc tables next to the types would be found instead of a namespace's missing ones. @throws SvcError unsupported */
async function requireNoTables(sql: Sql, place: string, schema: string): Promise<void> {
  const found = await sql.get<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname IN ${sqlList(Object.keys(DATABASE_TABLES))} ORDER BY 1`,
    schema,
  );
  if (found === undefined) return;
  const message = `${place}: has a table ${found.name} beside the types of pgvector, in the schema ${quoted(schema)}. Nothing was changed; give the workspace a database of its own.`;
  throw new SvcError("unsupported", message, { path: place });
}
