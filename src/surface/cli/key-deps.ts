import type { Config } from "../../config/schema.ts";

/** How the key of a pack may be found. */
export type KeyRequest = {
  /** A key that comes before every other; empty: the pack is opened without one. Absent: one is looked for. */
  readonly given?: string | undefined;
  /** Asks the person for the key, again when the last one did not fit. Absent: there is nobody to ask. */
  readonly ask?: ((isAgain: boolean) => Promise<string>) | undefined;
};

/** How a new pack is encrypted. */
export type NewKey =
  | { readonly kind: "plain" }
  /** Random, and kept on this machine. */
  | { readonly kind: "generated" }
  /** `isKept`: on this machine as well. */
  | { readonly kind: "chosen"; readonly key: string; readonly isKept: boolean };

/** A configuration that opens a new pack, and where its key is kept; undefined where it is not kept. */
export type Keyed = { readonly config: Config; readonly keptIn: string | undefined };

/** What is known about the key of a pack; never the key itself. */
export type KeyStatus = {
  /** Absolute path of the file that holds the log. */
  readonly path: string;
  readonly encrypted: boolean;
  /** By which the key is kept, in hexadecimal digits; undefined for an unencrypted pack. */
  readonly salt: string | undefined;
  /** Where a key for the pack is kept on this machine, with what keeps it from being used. */
  readonly places: readonly { readonly place: string; readonly problem: string | undefined }[];
  /** Whether the settings hold a key that is used. */
  readonly inSettings: boolean;
};

/** What the commands need to handle keys. Each throws `encryption_failed` when there is none or a wrong one. */
export type KeyDeps = {
  /** The configuration with the key of its pack; as it is when the pack is unencrypted or missing. */
  find(config: Config, request: KeyRequest): Promise<Config>;
  status(config: Config): Promise<KeyStatus>;
  /** @param owner default: the user of the system */
  createPack(
    config: Config,
    newKey: NewKey,
    owner: string | undefined,
  ): Promise<Keyed & { readonly owner: string | undefined }>;
  /** The key, or the file into which it was written. */
  exportKey(
    config: Config,
    request: KeyRequest,
    output: string | undefined,
  ): Promise<{
    readonly key: string | undefined;
    readonly path: string | undefined;
    /** Whether the pack remembers that the copy was made. */
    readonly isRemembered: boolean;
  }>;
  /** What makes a key text easy to guess, as one sentence; undefined for a good one. */
  weakness(keyText: string): Promise<string | undefined>;
  /** Keeps a key that opens the pack. @returns where */
  importKey(config: Config, keyText: string): Promise<string>;
  /** @returns the places from which the key was removed */
  forgetKey(config: Config): Promise<readonly string[]>;
};
