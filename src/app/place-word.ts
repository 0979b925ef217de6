import type { Config } from "../config/schema.ts";
import { databaseOf } from "./pack-path.ts";

/** What a person calls the place where memories are kept. */
export type PlaceWord = "pack" | "database";

/** What the configured place is called. */
export function placeWord(config: Pick<Config, "database_url">): PlaceWord {
  return databaseOf(config) === undefined ? "pack" : "database";
}
