import { flag, integer, optionalSecret } from "./fields.ts";

/** The server database that takes the place of a pack. */
export const DATABASE = {
  database_url: optionalSecret(
    "Address of a PostgreSQL database with pgvector that holds the memories in place of a pack: `postgres://user:password@host/database`. Excludes `pack_path` and `encryption_enabled`.",
  ),
  database_pool_size: integer(
    { default: 10, min: 1, max: 1000 },
    "Connections to the database at most, of one process.",
  ),
  database_prepare: flag(
    false,
    "Prepare statements once per connection, which is faster. Only for direct connections: behind a pooler that passes transactions on, answers could be those of other statements.",
  ),
  database_timeout_ms: integer(
    { default: 30_000, min: 100, max: 3_600_000 },
    "Milliseconds that one statement may take before the server ends it.",
  ),
};
