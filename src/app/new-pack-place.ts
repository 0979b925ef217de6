import { lstatSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { isHiddenFor } from "../adapters/sqlite/copy/hidden-file.ts";
import type { Config } from "../config/schema.ts";
import { invalid } from "../domain/errors.ts";
import { databaseOf, layoutOf } from "./pack-path.ts";

/** What a directory pack, and the file system, have in a folder. */
const OWN = /^(?:memory\.db.*|vectors\.index.*|lexical_index|manifest\.json|\.env|lost\+found)$/;

/**
 * Refuses to make the configured pack where nobody can have meant it: through a link to nothing, or as the files of a directory pack
 * beside another pack, in a folder with other things, in the home folder, or under the name of another kind of file. Does nothing if
 * it is there already.
 * @throws SvcError invalid_argument
 */
export function requirePlaceForNew(config: Config): void {
  if (databaseOf(config) !== undefined) return;
  const layout = layoutOf(config);
  if (layout.kind === "file") refuseDangling(resolve(config.pack_path ?? layout.path));
  else if (statSync(layout.databasePath, { throwIfNoEntry: false }) === undefined) {
    refuseFolder(dirname(layout.databasePath), layout.databasePath, config.packFolder);
  }
}

/** @throws SvcError invalid_argument */
export function refuseDangling(path: string): void {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  throw invalid("path", `${path} is a link to a file that is missing; name the file itself`);
}

/** @param named the folder, if not its database was named */
function refuseFolder(folder: string, database: string, named: string | undefined): void {
  if (named === homedir()) throw refused(`${folder} is the home folder`);
  const names = namesIn(folder);
  const pack = names?.find((name) => /\.pack$/i.test(name));
  if (pack !== undefined) {
    throw refused(`${folder} has a pack in it: did you mean ${join(folder, pack)}`, "?");
  }
  if (named === undefined) return;
  if (names === undefined && extname(folder) !== "") {
    throw refused(`${folder} has an ending of another kind; the name of a pack ends in .pack`);
  }
  const other = names?.find(
    (name) => !OWN.test(name) && !isHiddenFor(join(folder, name), database),
  );
  if (other !== undefined) throw refused(`${folder} has other things in it, ${other} for one`);
}

function refused(reason: string, end = ".") {
  return invalid(
    "path",
    `${reason}${end} Name a file that ends in .pack, or for a directory pack a new or empty folder`,
  );
}

/** Undefined where there is no folder. */
function namesIn(folder: string): readonly string[] | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() ? readdirSync(folder) : undefined;
}
