import { isAbsolute, join } from "node:path";
import { databaseOf, mainFileOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/text.ts";
import { type KeyStatus, keyStatus } from "../packs/key-custody.ts";
import { lastingSelf, type Surroundings, surroundings } from "./catalogue.ts";
import {
  CONFIG_FOLDER_VARIABLE,
  NO_CREATE,
  OWNER_VARIABLE,
  type RemoteServer,
  type ServerCommand,
} from "./server-entry.ts";

export type AssistantCommandInput = {
  /** Absolute path of the pack, as a person would name it. */
  readonly pack: string;
  /** The owner of everything on the connection; absent: each call names one. */
  readonly userId?: string | undefined;
  /** Default core: a model pays for each tool in the list. */
  readonly tools?: "core" | "full" | undefined;
};

/**
 * How an assistant starts this program for the configured pack, which must exist: if it was moved, the assistant gets an error, not a
 * second memory.
 * @param key status of its key, if any
 */
export function assistantCommand(
  { pack, userId, tools = "core" }: AssistantCommandInput,
  key: KeyStatus | undefined,
  here: Surroundings = surroundings(),
): ServerCommand {
  const [command, ...rest] = lastingSelf(here);
  return {
    command,
    args: [...rest, "mcp", "--db-path", pack, NO_CREATE, "--tools", tools],
    env: {
      ...(userId !== undefined && { [OWNER_VARIABLE]: userId }),
      ...keyFolderVariable(key, here),
    },
  };
}

/** The key status of the configured pack; undefined if there is no pack. */
export async function keyOfPack(config: Config): Promise<KeyStatus | undefined> {
  return (await Bun.file(mainFileOf(config)).exists()) ? await keyStatus(config) : undefined;
}

/** Whether an assistant, which does not know this process's settings, can open the pack. */
export function canBeOpened(key: KeyStatus | undefined): boolean {
  return (
    key === undefined || !key.encrypted || key.places.some(({ problem }) => problem === undefined)
  );
}

/** Assistants do not pass on the variable for the location of key files. */
function keyFolderVariable(
  key: KeyStatus | undefined,
  { environment, home }: Surroundings,
): Readonly<Record<string, string>> {
  const folder = environment[CONFIG_FOLDER_VARIABLE];
  if (folder === undefined || !isAbsolute(folder) || folder === join(home, ".config")) return {};
  const isInFile = key?.places.some(({ place }) => place.startsWith(join(folder, "/")));
  return isInFile === true ? { [CONFIG_FOLDER_VARIABLE]: folder } : {};
}

export type Assistant = {
  readonly server: ServerCommand;
  /** What prevents an assistant from using the pack, or that none exists yet; one sentence each. */
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

/**
 * The server at an address, whose key is in a variable. An address without a path means `/mcp`.
 * @throws SvcError invalid_argument, without repeating what could be a key
 */
export function remoteServer(address: string, keyEnv: string | undefined): RemoteServer {
  const url = URL.parse(address);
  if (url === null || !["https:", "http:"].includes(url.protocol)) {
    throw invalid("--url", "is no address such as https://memory.example/mcp");
  }
  if (url.protocol === "http:" && !/^(localhost|127\..*|\[::1\])$/.test(url.hostname)) {
    throw invalid("--url", "would send the key unencrypted; use https");
  }
  if (`${url.username}${url.password}${url.search}${url.hash}` !== "" || address.includes("$")) {
    throw invalid("--url", "has more than host, port and path; a key goes into no file");
  }
  if (keyEnv === undefined || !/^[A-Z_][A-Z0-9_]{0,63}$/.test(keyEnv)) {
    const state = keyEnv === undefined ? "is missing" : "is no name of a variable";
    const form = "capital letters, digits and _, such as SVC_KEY";
    throw invalid("--key-env", `${state} (${form}); the key itself goes into no file`);
  }
  if (url.pathname === "/") url.pathname = "/mcp";
  return { url: url.href, keyEnv };
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

/** Most assistants expand variables in their configuration, each in its own notation. */
function dollarConcerns({ command, args, env }: ServerCommand): readonly string[] {
  const found = [command, ...args, ...Object.values(env)].find((text) => text.includes("$"));
  return found === undefined
    ? []
    : [
        `${found} has a $, which the assistant may take for the name of a variable. Where the server is not found then, choose a name without it`,
      ];
}
