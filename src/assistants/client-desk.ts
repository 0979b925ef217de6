import { databaseOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { KeyStatus } from "../packs/key-custody.ts";
import {
  type AssistantCommandInput,
  assistantCommand,
  canBeOpened,
  keyOfPack,
} from "./assistant-command.ts";
import {
  CLIENT_NAMES,
  type Client,
  type ConfigScope,
  findClient,
  similarClients,
} from "./catalogue.ts";
import {
  applyChange,
  type ConfigChange,
  entryText,
  planConnection,
  planDisconnection,
} from "./config-change.ts";
import type { ServerCommand } from "./server-entry.ts";
import { type Surroundings, surroundings } from "./surroundings.ts";

/** Which entry of which assistant. */
export type ClientEntry = {
  readonly client: string;
  readonly scope: ConfigScope;
  /** The server's name in the configuration. */
  readonly name: string;
};

/** A change of a configuration file that has not been made yet. */
export type ClientChange = Pick<ConfigChange, "before" | "after" | "otherNames"> & {
  /** What people call the assistant. */
  readonly title: string;
  /** Absolute path. */
  readonly file: string;
  /** Makes the change, at once or not at all. @returns the path of the copy of the former file, where one is made */
  apply(): string | undefined;
};

export type Assistant = {
  readonly server: ServerCommand;
  /** What keeps an assistant from using the pack, or that there is none yet; one sentence each. */
  readonly concerns: readonly string[];
};

/**
 * How an assistant uses the configured pack, and what prevents it.
 * @throws SvcError unsupported for a database, whose address no configuration of an assistant should hold
 */
export async function assistantOf(
  config: Config,
  input: AssistantCommandInput,
): Promise<Assistant> {
  requirePackOf(config);
  const key = await keyOfPack(config);
  const server = assistantCommand(input, key);
  return {
    server,
    concerns: [
      ...packConcerns(key, input.pack),
      ...settingsConcerns(surroundings()),
      ...dollarConcerns(server),
    ],
  };
}

function requirePackOf(config: Config): void {
  const database = databaseOf(config);
  if (database === undefined) return;
  const message = `${database}: is a database, and an assistant is connected to a pack; name one with --db-path. For an assistant to use the database, start svc mcp with SVC_DATABASE_URL in its environment.`;
  throw new SvcError("unsupported", message, { path: database });
}

function packConcerns(key: KeyStatus | undefined, pack: string): readonly string[] {
  if (key === undefined) {
    return [
      `there is no pack yet, and the assistant makes none; make it with: svc init ${shellWord(pack)}`,
    ];
  }
  if (canBeOpened(key)) return [];
  const place = key.inSettings
    ? "is only in the settings of this shell"
    : "is not kept on this machine";
  return [
    `the key of the pack ${place}, where assistants do not find it, and no key is written into their configuration. Keep it with: svc key import ${shellWord(pack)}`,
  ];
}

/** Settings that do not affect how an assistant opens the pack, or are reported elsewhere. */
const NOT_MISSED = /^SVC_(ENCRYPTION_.*|KEY_STORE|PACK_PATH|DB_PATH|MCP__?USER_ID)$/i;

function settingsConcerns({ environment }: Surroundings): readonly string[] {
  const names = Object.keys(environment).filter(
    (name) => /^SVC_/i.test(name) && !NOT_MISSED.test(name),
  );
  if (names.length === 0) return [];
  return [
    `assistants do not see the settings of this shell: ${names.sort().join(", ")}. Where one matters, add it to the "env" of the entry`,
  ];
}

/** Most assistants expand variables in what they read, each in its own notation. */
function dollarConcerns({ command, args, env }: ServerCommand): readonly string[] {
  const found = [command, ...args, ...Object.values(env)].find((text) => text.includes("$"));
  return found === undefined
    ? []
    : [
        `${found} has a $, which the assistant may take for the name of a variable. Where the server is not found then, choose a name without it`,
      ];
}

/** @throws SvcError invalid_argument */
export async function connectionChange(
  { client: name, ...entry }: ClientEntry,
  server: ServerCommand,
  force: boolean,
): Promise<ClientChange> {
  const client = requireClient(name);
  return toChange(
    client,
    await planConnection({ ...entry, client }, server, force, surroundings()),
  );
}

/** @throws SvcError invalid_argument */
export async function disconnectionChange({
  client: name,
  ...entry
}: ClientEntry): Promise<ClientChange> {
  const client = requireClient(name);
  return toChange(client, await planDisconnection({ ...entry, client }, surroundings()));
}

/** What to put into the configuration of a client, and which client it is for. */
export type Snippet = {
  readonly text: string;
  /** The known client that reads it; undefined: it suits most of the others. */
  readonly title: string | undefined;
  /** The known clients that the user may have meant. */
  readonly similar: readonly string[];
};

/** What to put into the configuration of a client; for an unknown one, what most of them read. */
export async function snippetFor(
  clientName: string,
  name: string,
  server: ServerCommand,
): Promise<Snippet> {
  const known = findClient(clientName);
  const client = known ?? findClient("cursor");
  return {
    text: client === undefined ? "" : await entryText({ client, name }, server),
    title: known?.title,
    similar: known === undefined ? similarClients(clientName) : [],
  };
}

function toChange({ title }: Client, change: ConfigChange): ClientChange {
  const { place, before, after, otherNames } = change;
  return { title, file: place.file, before, after, otherNames, apply: () => applyChange(change) };
}

function requireClient(name: string): Client {
  const client = findClient(name);
  if (client !== undefined) return client;
  throw invalid(
    "client",
    `${JSON.stringify(name)} is not a client that svc knows; ${advice(name)}`,
  );
}

function advice(name: string): string {
  const similar = similarClients(name);
  const print = `svc connect ${name.trim() === "" ? "other" : shellWord(name)} --print`;
  if (similar.length > 0) return `did you mean ${similar.join(" or ")}?`;
  return `choose one of ${CLIENT_NAMES.join(", ")}, or see what to put into any other with: ${print}`;
}
