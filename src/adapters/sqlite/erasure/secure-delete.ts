import type { Database } from "bun:sqlite";

/** Runs work in which SQLite overwrites deleted data with zeros. */
export function erasing<T>(database: Database, work: () => T): T {
  const schemas = database.query<{ name: string }, []>("PRAGMA database_list").all();
  const turn = (mode: "ON" | "OFF"): void => {
    for (const { name } of schemas) database.run(`PRAGMA ${name}.secure_delete = ${mode}`);
  };
  turn("ON");
  try {
    return work();
  } finally {
    turn("OFF");
  }
}
