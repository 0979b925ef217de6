import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, parse, resolve } from "node:path";
import { isAddress, shownAddress } from "../domain/addresses.ts";
import { invalid } from "../domain/errors.ts";
import { withHome } from "../lib/text.ts";

/** Up to the first part of a path with unexpanded shell syntax: `$NAME`, `${NAME}`, `$(command)`, `%NAME%`, `~user/`. */
const UNREPLACED =
  /^(?:.*?[\\/])??(?:~[^\\/]+(?=[\\/])|\$\w[^\\/]*|%\w+%[^\\/]*|[^\\/]*\$[{(][^\\/]*)/s;

/** The working directory, or the root of the file system if it was removed. */
export function workingFolder(): string {
  const { root } = parse(homedir());
  try {
    // The runtime may have cached it.
    return isFolder(process.cwd()) ? process.cwd() : root;
  } catch {
    return root;
  }
}

/** The settings of a directory pack. @param folder absolute */
export function directorySettings(folder: string) {
  return {
    pack_path: undefined,
    db_path: join(folder, "memory.db"),
    vector_path: join(folder, "vectors.index"),
    lexical_path: join(folder, "lexical_index"),
  };
}

/** Whether a folder exists; false if that cannot be determined. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A path from a setting or an option: `~`, `$HOME` and `${HOME}` at its start mean the home folder. */
export function expandedPath(text: string): string {
  return withHome(text, homedir());
}

/**
 * Why a path cannot be meant as written, as the rest of a sentence: it is an address, or has an unexpanded variable and does not exist.
 * Undefined for all others.
 */
export function pathProblem(text: string): string | undefined {
  if (isAddress(text)) {
    return "is an address, and a path is needed; database_url takes that of a database";
  }
  const path = expandedPath(text);
  if (path !== text && !existsSync(path) && existsSync(text)) {
    return `is ${path}, which is missing, and ${resolve(text)} is there from before such names were read; move that to the former, or name it ./${text}`;
  }
  const unreplaced = UNREPLACED.exec(path)?.[0];
  if (unreplaced === undefined || existsSync(unreplaced)) return undefined;
  return `${JSON.stringify(path)} has a variable that nothing has replaced; write the whole path, or ~/ for the home folder`;
}

/**
 * The path of an argument, with the home folder expanded.
 * @param field the argument, for the message
 * @throws SvcError invalid_argument for an address, whose password would appear in a file name, and for a variable
 */
export function pathArgument(field: string, text: string): string {
  if (isAddress(text)) {
    throw invalid(field, `${shownAddress(text)} is an address, and a path is needed`);
  }
  const problem = pathProblem(text);
  if (problem !== undefined) throw invalid(field, problem);
  return expandedPath(text);
}
