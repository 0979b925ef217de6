import { afterAll, beforeEach, expect } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type ClientName,
  type ConfigScope,
  findClient,
  placesOf,
  type Surroundings,
} from "../../src/assistants/catalogue.ts";
import {
  type ClientEntry,
  planConnection,
  planDisconnection,
} from "../../src/assistants/config-change.ts";
import type { RemoteServer, ServerCommand } from "../../src/assistants/server-entry.ts";
import { SvcError } from "../../src/domain/errors.ts";

/** A home folder with a project, made for each test, in which clients are connected to a pack. */
export function useHome() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "svc-clients-")));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const pack = join(root, "memory.pack");
  const server: ServerCommand = { command: "/opt/svc", args: ["mcp", "--db-path", pack], env: {} };
  let count = 0;
  let here: Surroundings = renewed();
  beforeEach(() => {
    here = renewed();
  });

  function renewed(): Surroundings {
    count += 1;
    const home = join(root, `home-${count}`);
    const folder = join(home, "project");
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(home, ".config"));
    return { platform: "linux", environment: {}, home, folder };
  }

  const fileOf = (client: ClientName, scope: ConfigScope = "user"): string =>
    placesOf(findClient(client)!, scope, here)[0]!.file;

  return {
    root,
    pack,
    server,
    other: { ...server, args: ["mcp", "--db-path", join(root, "other.pack")] },
    get here(): Surroundings {
      return here;
    },
    renew: (): void => {
      here = renewed();
    },
    fileOf,
    connect: async (
      place: ClientEntry,
      command: ServerCommand | RemoteServer = server,
      force = false,
    ): Promise<string | undefined> => (await planConnection(place, command, force, here)).apply(),
    disconnect: async (place: ClientEntry): Promise<string | undefined> =>
      (await planDisconnection(place, here)).apply(),
    /** All files below the home folder with their content. */
    snapshot: (): Readonly<Record<string, string>> => {
      const names = readdirSync(here.home, { recursive: true, encoding: "utf8" }).sort();
      return Object.fromEntries(
        names.map((name) => {
          const path = join(here.home, name);
          return [name, statSync(path).isDirectory() ? "folder" : readFileSync(path, "utf8")];
        }),
      );
    },
  };
}

export function entry(
  client: ClientName,
  scope: ConfigScope = "user",
  name = "memory",
): ClientEntry {
  return { client, scope, name };
}

/** Writes a client's file, with its folder. */
export function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The message of a refusal. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe("invalid_argument");
  return error.message;
}
