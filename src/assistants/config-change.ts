import { existsSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { createSystemClock } from "../adapters/system/system.ts";
import { mainFileOf, settingsForPath } from "../app/pack-path.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import {
  CLIENT_NAMES,
  type Client,
  type ClientName,
  CONFIG_SCOPES,
  type ConfigForm,
  type ConfigScope,
  findClient,
  type Place,
  placesOf,
  requireClient,
  type Surroundings,
  similarClients,
  surroundings,
} from "./catalogue.ts";
import {
  backUp,
  backupsOf,
  isLink,
  readConfig,
  removeConfig,
  removeCopies,
  removeEmptyFolders,
  writeConfig,
} from "./config-file.ts";
import {
  ConfigTextError,
  type Editor,
  fromEntry,
  isOurs,
  isSameEntry,
  type Members,
  packArgumentOf,
  type RemoteServer,
  remoteOf,
  type ServerCommand,
  toMembers,
  toRemoteMembers,
  withMembers,
} from "./server-entry.ts";

/** The editor of a form; its parser is loaded here. */
async function loadEditor({ language, section }: ConfigForm): Promise<Editor> {
  if (language === "json") return (await import("./json-editor.ts")).jsonEditor(section);
  return language === "toml"
    ? (await import("./toml-editor.ts")).tomlEditor(section)
    : (await import("./yaml-editor.ts")).yamlEditor(section);
}

/** @throws SvcError invalid_argument if the client cannot use a server over HTTP without a key in its file */
function membersFor(
  { title, form, remote }: Client,
  name: string,
  server: ServerCommand | RemoteServer,
  former?: unknown,
): Members {
  const isSame = former !== undefined && (remoteOf(former) === undefined) === "command" in server;
  const more = isSame ? undefined : form.more?.(name);
  if ("command" in server) return { ...more, ...toMembers(server, form, former) };
  if (typeof remote !== "string")
    return { ...more, ...toRemoteMembers(server, form, remote, former) };
  throw invalid(
    "--url",
    `${title} ${remote}. No key is written; connect it to a pack of this machine, or choose another client`,
  );
}

export type ClientEntry = {
  readonly client: string;
  readonly scope: ConfigScope;
  /** The server's name in the configuration. */
  readonly name: string;
};

/** A planned change of a configuration file. */
export type ClientChange = {
  /** The assistant's name for people. */
  readonly title: string;
  /** Absolute path. */
  readonly file: string;
  /** Undefined: there is no file. */
  readonly before: string | undefined;
  /** Undefined: the file is removed. Equal to `before`: nothing to do. */
  readonly after: string | undefined;
  /** Other names under which the file has servers of this program. */
  readonly otherNames: readonly string[];
  /** Applies the change, atomically. @returns the path of the backup, if one is made */
  apply(): string | undefined;
};

type Planned = Pick<ClientChange, "before" | "after"> & {
  readonly place: Place;
  readonly isShared?: boolean;
  readonly otherNames?: readonly string[];
  /** Whether the file is backed up first. */
  readonly isBackedUp?: boolean;
  /** Backups that become redundant with the change. */
  readonly spent?: readonly string[];
};

/**
 * What connecting a client changes.
 * @throws SvcError invalid_argument if the file cannot be understood, or has another program's server under that name
 *   and `force` is not set
 */
export async function planConnection(
  { client: clientName, scope, name }: ClientEntry,
  server: ServerCommand | RemoteServer,
  force: boolean,
  here: Surroundings = surroundings(),
): Promise<ClientChange> {
  const client = requireClient(clientName);
  const place = usedPlace(client, placesFor(client, scope, here));
  const editor = await loadEditor(client.form);
  const before = readConfig(place.file);
  const after = guarded(place.file, () => {
    const former = editor.read(before ?? "").get(name);
    const ours = isOurs(former) ? former : undefined;
    if (former !== ours && !force) throw taken(place.file, name, former);
    return connected(editor, before, name, membersFor(client, name, server, ours));
  });
  return changeOf(client, {
    place,
    isShared: scope === "project",
    before,
    after,
    isBackedUp: true,
    otherNames: otherNamesIn(editor, before, name),
  });
}

/**
 * What disconnecting a client changes: the file is restored if nothing else has changed since; else only the entry is removed.
 * @throws SvcError invalid_argument if the file cannot be understood, or the entry belongs to another program
 */
export async function planDisconnection(
  { client: clientName, scope, name }: ClientEntry,
  here: Surroundings = surroundings(),
): Promise<ClientChange> {
  const client = requireClient(clientName);
  const editor = await loadEditor(client.form);
  const places = placesFor(client, scope, here);
  const held = places.find(({ file }) => isOurs(entriesIn(editor, file).get(name)));
  const place = held ?? usedPlace(client, places);
  const before = readConfig(place.file);
  return guarded(place.file, () => {
    const isShared = scope === "project";
    const otherNames = otherNamesIn(editor, before, name);
    const unchanged = { place, isShared, before, otherNames };
    const present = editor.read(before ?? "").get(name);
    if (before === undefined || present === undefined) {
      return changeOf(client, { ...unchanged, after: before });
    }
    if (!isOurs(present)) throw foreign(place.file, name);
    const undoing: Undoing = {
      again: (copy, text) =>
        connected(editor, copy, name, withMembers(editor.read(text).get(name), {})),
      has: (text) => isOurs(editor.read(text).get(name)),
      without: (text) => editor.remove(text, name),
    };
    return changeOf(client, { ...unchanged, ...undone(place.file, before, undoing) });
  });
}

/** A planned change as its caller sees it. */
export function changeOf({ title }: Pick<Client, "title">, planned: Planned): ClientChange {
  const { place, before, after, otherNames = [] } = planned;
  const apply = () => applyChange(planned);
  return { title, file: place.file, before, after, otherNames, apply };
}

function applyChange(planned: Planned): string | undefined {
  const { place, before, after, isShared = false, isBackedUp = false, spent = [] } = planned;
  if (after === before) return undefined;
  const copy =
    isBackedUp && before !== undefined
      ? backUp(place.file, before, createSystemClock().now())
      : undefined;
  try {
    if (after !== undefined) writeConfig(place.file, before, after, isShared);
    else if (before !== undefined) removeConfig(place.file, before);
  } catch (error) {
    // The file was not changed.
    if (copy !== undefined) removeCopies([copy]);
    throw error;
  }
  removeCopies(spent);
  if (after === undefined) removeEmptyFolders(place);
  return copy;
}

/** A file with nothing but the entry, as the client would read it. */
export async function entryText(
  client: Client,
  name: string,
  server: ServerCommand | RemoteServer,
): Promise<string> {
  return (await loadEditor(client.form)).create(name, membersFor(client, name, server));
}

/** The configuration snippet for a client, and which client it is for. */
type Snippet = {
  readonly text: string;
  /** The known client that reads it; undefined: it suits most others. */
  readonly title: string | undefined;
  /** The known clients that the user may have meant. */
  readonly similar: readonly string[];
};

/** The configuration snippet for a client; for an unknown one, what most of them read. */
export async function snippetFor(
  clientName: string,
  name: string,
  server: ServerCommand | RemoteServer,
): Promise<Snippet> {
  const known = findClient(clientName);
  const client = known ?? findClient("cursor");
  return {
    text: client === undefined ? "" : await entryText(client, name, server),
    title: known?.title,
    similar: known === undefined ? similarClients(clientName) : [],
  };
}

function placesFor(client: Client, scope: ConfigScope, here: Surroundings): readonly Place[] {
  const places = placesOf(client, scope, here);
  if (places.length > 0) return places;
  throw invalid("--scope", `${client.title} has no configuration of projects; use user`);
}

/** The file that a client reads: in the first folder that exists, else in the first, the one that is there. */
function usedPlace(client: Client, places: readonly Place[]): Place {
  const first = places.find(({ file }) => existsSync(dirname(file))) ?? places[0];
  const folder = dirname(first?.file ?? "");
  const used = places.find(({ file }) => dirname(file) === folder && existsSync(file)) ?? first;
  if (used === undefined)
    throw new SvcError("internal", `${client.name} has no configuration file`);
  return used;
}

function otherNamesIn(editor: Editor, text = "", name = ""): readonly string[] {
  return [...editor.read(text)].flatMap(([other, entry]) =>
    other !== name && isOurs(entry) ? [other] : [],
  );
}

/** The text with the entry. A previous entry of another program, or of another transport, is removed as a whole. */
function connected(
  editor: Editor,
  text: string | undefined,
  name: string,
  members: Members,
): string {
  if (text === undefined) return editor.create(name, members);
  const former = editor.read(text).get(name);
  if (former === undefined) return editor.set(text, name, members);
  const isOther = (remoteOf(former) === undefined) !== (remoteOf(members) === undefined);
  if (isOther || !isOurs(former)) return editor.set(editor.remove(text, name), name, members);
  return isSameEntry(former, withMembers(former, members)) ? text : editor.set(text, name, members);
}

type Undone = Pick<Planned, "after" | "isBackedUp" | "spent">;

/** How the texts of one kind of file are undone. */
export type Undoing = {
  /** What connecting makes of a copy, with what a text has of ours. @param copy undefined: no file */
  readonly again: (copy: string | undefined, text: string) => string;
  readonly has: (text: string) => boolean;
  readonly without: (text: string) => string;
};

/** Follows the backups to the text that the first connection found; if something else has changed, removes only what is ours. */
export function undone(file: string, before: string, { again, has, without }: Undoing): Undone {
  const spent: string[] = [];
  let text = before;
  for (const copy of backupsOf(file)) {
    if (!isResult(() => again(copy.text, text), text)) continue;
    spent.push(copy.path);
    text = copy.text;
    if (!has(text)) return { after: text, spent };
  }
  // A link was there before: svc creates only files.
  if (!isLink(file) && isResult(() => again(undefined, text), text)) {
    return { after: undefined, spent };
  }
  return { after: without(before), isBackedUp: true };
}

function isResult(write: () => string, text: string): boolean {
  try {
    return write() === text;
  } catch (error) {
    if (error instanceof ConfigTextError) return false;
    throw error;
  }
}

/** Reports a text that cannot be changed. @throws SvcError invalid_argument that names the file */
export function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigTextError)) throw error;
    throw invalid(file, `${error.message}; nothing was changed`);
  }
}

function taken(file: string, name: string, entry: unknown): SvcError {
  const command = fromEntry(entry)?.command ?? "a server on the network";
  return invalid(
    file,
    `has another server called ${name} (${command}); choose another name with --name, or replace it with --force. Nothing was changed`,
  );
}

function foreign(file: string, name: string): SvcError {
  return invalid(
    file,
    `has a server called ${name} that is not of svc, which stays as it is; name the right one with --name`,
  );
}

/** An assistant that starts this program for a pack. */
export type Connection = {
  readonly client: ClientName;
  readonly scope: ConfigScope;
  readonly file: string;
  readonly name: string;
  readonly server: ServerCommand;
};

/** An assistant that reaches a server over HTTP. */
export type RemoteConnection = Omit<Connection, "server"> & { readonly url: string };

/** The known assistants configured to use a pack. Unreadable files are skipped. */
export async function connectionsTo(
  mainFile: string,
  here: Surroundings,
): Promise<readonly Connection[]> {
  return (await ownEntries(here)).flatMap(({ entry, ...where }) => {
    const server = fromEntry(entry);
    return server !== undefined && packOf(server) === mainFile ? [{ ...where, server }] : [];
  });
}

/** The known assistants that reach a server over HTTP. Unreadable files are skipped. */
export async function remoteConnections(here: Surroundings): Promise<readonly RemoteConnection[]> {
  return (await ownEntries(here)).flatMap(({ entry, ...where }) => {
    const url = remoteOf(entry);
    return url === undefined ? [] : [{ ...where, url }];
  });
}

/** Whether another assistant is connected in the project of a folder. */
export async function hasOthersIn(client: string, here: Surroundings): Promise<boolean> {
  return (await ownEntries(here)).some((one) => one.scope === "project" && one.client !== client);
}

type OwnEntry = Omit<Connection, "server"> & { readonly entry: unknown };

async function ownEntries(here: Surroundings): Promise<readonly OwnEntry[]> {
  const found = await Promise.all(
    CLIENT_NAMES.map(async (client) => {
      const known = requireClient(client);
      const editor = await loadEditor(known.form);
      return CONFIG_SCOPES.flatMap((scope) =>
        placesOf(known, scope, here).flatMap(({ file }) =>
          [...entriesIn(editor, file)].flatMap(([name, entry]) =>
            isOurs(entry) ? [{ client, scope, file, name, entry }] : [],
          ),
        ),
      );
    }),
  );
  return found.flat();
}

/** The entries of a file; empty if it is missing or unreadable: a change will report why. */
function entriesIn(editor: Editor, file: string): ReadonlyMap<string, unknown> {
  try {
    return editor.read(readConfig(file) ?? "");
  } catch {
    return new Map();
  }
}

/** The main file of a server's pack; undefined if its working directory or settings determine it. */
function packOf(server: ServerCommand): string | undefined {
  const path = packArgumentOf(server);
  if (path === undefined || !isAbsolute(path)) return undefined;
  try {
    return mainFileOf(settingsForPath(path));
  } catch {
    return undefined;
  }
}
