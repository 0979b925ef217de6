import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { CliContext } from "./deps.ts";
import { configWithoutKey } from "./options.ts";

const DEFAULT_PACK = "./memory.pack";

/** The configuration with the named pack, else the configured one, else `./memory.pack`; without a look at the pack. */
export async function configOfPack(context: CliContext, path: string | undefined): Promise<Config> {
  const configured = await configWithoutKey(context, path);
  const isNamed = path !== undefined || configured.pack_path !== undefined;
  return isNamed || existsSync(configured.db_path)
    ? configured
    : await configWithoutKey(context, DEFAULT_PACK);
}

/** What a person calls a pack: its file, or the folder around its files. @param main the file that holds the log */
export function packOf(main: string): string {
  return basename(main) === "memory.db" ? dirname(main) : main;
}
