import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Config } from "../../config/schema.ts";
import { shownPlace } from "../../domain/addresses.ts";
import { shellWord } from "../../lib/text.ts";
import type { CliContext } from "./context.ts";
import { loadedFor, told } from "./options.ts";

const DEFAULT_PACK = "./memory.pack";

/** The configuration with the named pack, else the configured one, else `./memory.pack`; does not read the pack. */
export function configOfPack(context: CliContext, path: string | undefined): Config {
  const configured = loadedFor(path);
  const { pack_path: packPath, db_path: dbPath, database_url: url } = configured.config;
  const isSet = resolve(dbPath) !== resolve("memory.db") || existsSync(dbPath);
  const isNamed = path !== undefined || packPath !== undefined || url !== undefined || isSet;
  return told(context, isNamed ? configured : loadedFor(DEFAULT_PACK));
}

/** A pack as it was typed, as a word of a command to show. */
export function packWord(path: string): string {
  return shellWord(shownPlace(path));
}

/** A person's name for a pack: its file, or the folder around its files. @param main the file that holds the log */
export function packOf(main: string): string {
  return basename(main) === "memory.db" ? dirname(main) : main;
}
