import { join } from "node:path";
import { startPostgres } from "../../scripts/check/postgres.ts";
import type { Lacking } from "../left-out.ts";

/** Address of a server of databases, which the whole check shares; a test that runs alone starts one, which ends with it. */
async function serverUrl(): Promise<{ readonly url: string } | { readonly lacking: string }> {
  const shared = process.env["TEST_DATABASE_URL"];
  if (shared !== undefined && shared !== "") return { url: shared };
  const lacking = process.env["TEST_DATABASE_LACKING"];
  if (lacking !== undefined && lacking !== "") return { lacking };
  const server = await startPostgres(join(import.meta.dir, "../.."));
  return typeof server === "string" ? { lacking: server } : { url: server.url };
}

const found = await serverUrl();
const server = "url" in found ? found.url : undefined;

/** Why no test can have a database here: undefined where it can. */
export const NO_POSTGRES: Lacking = "lacking" in found ? found.lacking : undefined;

/** The address of a database of the server. */
export function databaseUrl(name: string): string {
  const url = new URL(server ?? "");
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs a statement on the server, in a database or beside all. */
export async function onServer(statement: string, database = "postgres"): Promise<unknown[]> {
  const sql = new Bun.SQL({ url: databaseUrl(database), max: 1, prepare: false });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.close();
  }
}

let made = 0;

/** Makes a database. @param template whose content it gets; default: none. @returns its name */
export async function makeDatabase(template = "template1"): Promise<string> {
  made += 1;
  const name = `svc_${process.pid}_${made}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  return name;
}

/** Removes a database, whoever has it open. */
export async function dropDatabase(name: string): Promise<void> {
  await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}
