import type { Dialect } from "./dialect.ts";
import { get, run, type Steps, statement } from "./statement.ts";

// What a store says of itself besides its manifest: one value for each name.

const table = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys ? "settings" : "pack_settings";

const READ = statement((known) => `SELECT value FROM ${table(known)} WHERE name = $1`);
const REMOVE = statement((known) => `DELETE FROM ${table(known)} WHERE name = $1`);
const insertion = (known: Dialect, otherwise: string): string =>
  `INSERT INTO ${table(known)} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO ${otherwise}`;
const WRITE = statement((known) => insertion(known, "UPDATE SET value = excluded.value"));
const ADD = statement((known) => insertion(known, "NOTHING"));

/** A value of a store; undefined if there is none. */
export function* readSetting(name: string): Steps<string | undefined> {
  return (yield* get<{ value: string }>(READ, name))?.value;
}

/** Stores a value; undefined removes it. Runs inside a write transaction. @returns rows that were written */
export function* writeSetting(name: string, value: string | undefined): Steps<number> {
  return value === undefined ? yield* run(REMOVE, name) : yield* run(WRITE, name, value);
}

/** Stores a value unless there is one. Runs inside a write transaction. @returns whether it was stored */
export function* addSetting(name: string, value: string): Steps<boolean> {
  return (yield* run(ADD, name, value)) > 0;
}
