import { integer, optionalFlag, optionalInteger, optionalSecret } from "./fields.ts";

/** The server database that takes the place of a pack. */
export const DATABASE = {
  database_url: optionalSecret(
    "Address of a PostgreSQL database with pgvector that holds the memories in place of a pack: `postgres://user:password@host/database`. Excludes `pack_path` and `encryption_enabled`.",
  ),
  database_pool_size: integer(
    { default: 10, min: 1, max: 1000 },
    "Connections to the database at most, of one process.",
  ),
  database_partitions: optionalInteger(
    { default: undefined, min: 2, max: 32 },
    "Partitions of each table of a new database, by hash of the owner. They stay as they are made: a database with another number is refused. Unset: none, or as the database has them.",
  ),
  database_prepare: optionalFlag(
    "Prepare statements once per connection, which takes about two thirds of the time. Unset: if the connection is direct. Behind a pooler that passes transactions on, answers could be those of other statements.",
  ),
  database_row_security: optionalFlag(
    "Whether the server of the database itself hides what the owner of a call does not own (row-level security), as a second wall behind the one that every statement has. True builds it and false takes it away, as the owner of the tables; unset: as the database has it.",
  ),
  database_timeout_ms: integer(
    { default: 30_000, min: 100, max: 3_600_000 },
    "Milliseconds that one statement may take before the server ends it. A server that has not answered a second after that is taken for unreachable.",
  ),
};
