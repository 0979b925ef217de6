/** Where the processes of one pack meet, found without settings and commands: every hook of an assistant needs it. */
import { dirname } from "node:path";
import { keyFolder } from "../adapters/keystore/key-store.ts";
import { linkSecret } from "../adapters/keystore/link-secret.ts";
import { IS_WINDOWS } from "../adapters/native/system-files.ts";
import { mainFileOf, settingsForPath } from "../app/pack-path.ts";
import { VERSION } from "../app/version.ts";
import { SELF } from "../assistants/catalogue.ts";
import { settingsFingerprint } from "../config/fingerprint.ts";
import { fileBesidePack, type SettingsFile } from "../config/settings-file.ts";
import { type Kin, kinUnder } from "../surface/mcp/link/handshake.ts";
import { pipeAddress, socketAddress, socketFolder } from "../surface/mcp/link/rendezvous.ts";

/** Where this user's processes for one pack meet, and how they recognize each other. */
export type Link = {
  readonly mainFile: string;
  readonly kin: Kin;
  /** Undefined: they cannot meet. */
  readonly address: string | undefined;
  readonly problem: string;
};

type LinkOptions = {
  readonly settingsFile: SettingsFile | undefined;
  /** As given on the command line. */
  readonly key: string | undefined;
  readonly readOnly: boolean;
};

/** What makes this process interchangeable with others of this user, and where they meet. */
export function linkOf(mainFile: string, { key, settingsFile: file, readOnly }: LinkOptions): Link {
  const program = { version: VERSION, program: SELF };
  const fingerprint = settingsFingerprint({ ...program, key, file, readOnly });
  const kin = { version: VERSION, fingerprint };
  try {
    const { env } = process;
    const secret = linkSecret(env);
    const address = IS_WINDOWS
      ? pipeAddress(secret, mainFile)
      : socketAddress(socketFolder(env, dirname(keyFolder(env))), mainFile);
    return { mainFile, kin: kinUnder(secret, kin, address), address, problem: "" };
  } catch (error) {
    // A process without a secret trusts no other.
    const problem = error instanceof Error ? error.message : String(error);
    return { mainFile, kin, address: undefined, problem };
  }
}

type NamedPack = { readonly mainFile: string; readonly settingsFile: SettingsFile | undefined };

/** The pack of a path; undefined for a bad one. */
export function packAt(path: string): NamedPack | undefined {
  try {
    const settings = settingsForPath(path);
    return { mainFile: mainFileOf(settings), settingsFile: fileBesidePack(path, settings) };
  } catch {
    // Opening it reports a bad path.
    return undefined;
  }
}
