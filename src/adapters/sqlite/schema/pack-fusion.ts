import type { Database } from "bun:sqlite";
import type { PackFusion } from "../../../domain/scoring.ts";
import { readPackSetting, writePackSetting } from "./pack-settings.ts";

const NAME = "fusion";

/** The fusion of a pack where the settings name none. A pack that was made before there was another has rank fusion. */
export function readPackFusion(database: Database): PackFusion {
  return readPackSetting(database, NAME) === "adaptive" ? "adaptive" : "rrf";
}

/** Gives a new pack, or one with new vectors, the present default. Runs inside a write transaction. */
export function writePackFusion(database: Database): void {
  writePackSetting(database, NAME, "adaptive");
}
