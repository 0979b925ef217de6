import { isAbsolute } from "node:path";
import { mainFileOf, settingsForPath } from "../app/pack-path.ts";
import {
  CLIENT_NAMES,
  type ClientName,
  type ConfigScope,
  findClient,
  placesOf,
} from "./catalogue.ts";
import { loadEditor } from "./config-change.ts";
import { readConfig } from "./config-file.ts";
import { fromEntry, isOurs, packArgumentOf, type ServerCommand } from "./server-entry.ts";
import type { Surroundings } from "./surroundings.ts";

/** An assistant that starts this program for a pack. */
export type Connection = {
  readonly client: ClientName;
  readonly scope: ConfigScope;
  readonly file: string;
  /** The server's name in the file. */
  readonly name: string;
  readonly server: ServerCommand;
};

/** The known assistants that are configured to use a pack. Files that cannot be read are passed over. */
export async function connectionsTo(
  mainFile: string,
  here: Surroundings,
): Promise<readonly Connection[]> {
  const found = await Promise.all(
    CLIENT_NAMES.flatMap((name) => [
      connectionsOf(name, "user", here),
      connectionsOf(name, "project", here),
    ]),
  );
  return found.flat().filter(({ server }) => packOf(server) === mainFile);
}

async function connectionsOf(
  clientName: ClientName,
  scope: ConfigScope,
  here: Surroundings,
): Promise<readonly Connection[]> {
  const client = findClient(clientName);
  if (client === undefined) return [];
  const editor = await loadEditor(client.form);
  return placesOf(client, scope, here).flatMap(({ file }) => {
    const entries = entriesOf(() => editor.read(readConfig(file) ?? ""));
    return [...entries].flatMap(([name, entry]) => {
      const server = isOurs(entry) ? fromEntry(entry) : undefined;
      return server === undefined ? [] : [{ client: clientName, scope, file, name, server }];
    });
  });
}

function entriesOf(read: () => ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  try {
    return read();
  } catch {
    // A list of connected assistants does not judge their files.
    return new Map();
  }
}

/** The main file of the pack that a server is started for; undefined where its working directory or settings decide. */
function packOf(server: ServerCommand): string | undefined {
  const path = packArgumentOf(server);
  if (path === undefined || !isAbsolute(path)) return undefined;
  try {
    return mainFileOf(settingsForPath(path));
  } catch {
    return undefined;
  }
}
