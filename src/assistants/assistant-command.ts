import { isAbsolute, join } from "node:path";
import { mainFileOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { type KeyStatus, keyStatus } from "../packs/key-custody.ts";
import { findClient } from "./catalogue.ts";
import {
  CONFIG_FOLDER_VARIABLE,
  NO_CREATE,
  OWNER_VARIABLE,
  type ServerCommand,
} from "./server-entry.ts";
import { SELF, type Surroundings, surroundings } from "./surroundings.ts";

export type AssistantCommandInput = {
  /** Absolute path of the pack, as a person would name it. */
  readonly pack: string;
  /** The owner of everything on the connection; absent: each call names one. */
  readonly userId?: string | undefined;
  readonly tools?: "core" | "full" | undefined;
  /** The name of the assistant; absent: any. */
  readonly client?: string | undefined;
};

/**
 * How an assistant starts this program for the configured pack, which exists: where it was moved, the assistant is told, and gets
 * no second memory. @param key what is known about its key, if there is one
 */
export function assistantCommand(
  { pack, userId, tools, client }: AssistantCommandInput,
  key: KeyStatus | undefined,
  here: Surroundings = surroundings(),
): ServerCommand {
  const [command, ...rest] = SELF;
  const set = tools === "core" ? ["--tools", tools] : [];
  const readsText = client !== undefined && findClient(client)?.readsText === true;
  const form = readsText ? ["--answers", "text"] : [];
  return {
    command,
    args: [...rest, "mcp", "--db-path", pack, NO_CREATE, ...set, ...form],
    env: {
      ...(userId !== undefined && { [OWNER_VARIABLE]: userId }),
      ...keyFolderVariable(key, here),
    },
  };
}

/** What is known about the key of the configured pack; undefined if there is no pack. */
export async function keyOfPack(config: Config): Promise<KeyStatus | undefined> {
  return (await Bun.file(mainFileOf(config)).exists()) ? await keyStatus(config) : undefined;
}

/** Whether an assistant, which knows none of the settings of this process, can open the pack. */
export function canBeOpened(key: KeyStatus | undefined): boolean {
  return (
    key === undefined || !key.encrypted || key.places.some(({ problem }) => problem === undefined)
  );
}

/** Assistants do not pass on the variable that says where key files are. */
function keyFolderVariable(
  key: KeyStatus | undefined,
  { environment, home }: Surroundings,
): Readonly<Record<string, string>> {
  const folder = environment[CONFIG_FOLDER_VARIABLE];
  if (folder === undefined || !isAbsolute(folder) || folder === join(home, ".config")) return {};
  const isInFile = key?.places.some(({ place }) => place.startsWith(join(folder, "/")));
  return isInFile === true ? { [CONFIG_FOLDER_VARIABLE]: folder } : {};
}
