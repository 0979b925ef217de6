import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { endAllAssistants } from "../../scripts/bench/assistant-client.ts";
import { endAllServers } from "../../scripts/bench/server.ts";
import { removeTree } from "../../scripts/check/remove-tree.ts";
import { keyFolder } from "../../src/adapters/keystore/key-store.ts";
import { socketAddress, socketFolder } from "../../src/surface/mcp/link/rendezvous.ts";

/** Where the processes of a test file live. */
export type Place = {
  /** Absolute path, without links. */
  readonly root: string;
  /** Their home and what they keep, below `root`. */
  readonly environment: () => Record<string, string>;
  /** A pack in a folder of its own; the folder is made, the pack is not. */
  readonly packIn: (name: string) => string;
};

/** What programs unpack, once for all tests of this user. */
const CACHE = process.env["XDG_CACHE_HOME"] ?? join(process.env["HOME"] ?? tmpdir(), ".cache");

/** The variables of this user's processes that keep everything below `home` but what they unpack. */
export function livingIn(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CACHE_HOME: CACHE,
    XDG_CONFIG_HOME: join(home, ".config"),
    // Not that of whoever runs the tests.
    XDG_RUNTIME_DIR: join(home, "no-session"),
  };
}

/** Where the processes of a pack meet that live in `home`; the folder is made. */
export function socketOf(home: string, pack: string): string {
  const environment = livingIn(home);
  const folder = socketFolder(environment, dirname(keyFolder(environment)));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return socketAddress(folder, pack);
}

/** Makes a folder for the processes of a test file. After its tests they are ended, and it is removed. */
export function usePlace(name: string): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `svc-${name}-`)));
  afterAll(async () => {
    await endAllAssistants();
    await endAllServers();
    removeTree(root);
  });
  return {
    root,
    environment: () => livingIn(root),
    packIn: (folder) => {
      mkdirSync(join(root, folder), { recursive: true });
      return join(root, folder, "memory.pack");
    },
  };
}
