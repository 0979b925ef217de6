import { join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { readKeyFile, removeKeyFile, writeKeyFile } from "./key-files.ts";
import { type Environment, keyFolder } from "./key-folder.ts";
import { openSecretStore, type SecretStore } from "./secret-store.ts";

/** Where a key is kept. */
export type KeyPlace =
  | { readonly kind: "secret-store" }
  | { readonly kind: "file"; readonly path: string };

/** Result of looking for a key. A key is `raw_key:` and 32 bytes in URL-safe base64. */
export type KeySearch =
  | { readonly kind: "found"; readonly key: string; readonly place: KeyPlace }
  | { readonly kind: "none" }
  /** The secret store did not answer; the key may be in it. */
  | { readonly kind: "silent" };

/** A place that holds a key, or one that cannot be used. */
export type PlaceState = { readonly place: KeyPlace; readonly problem: string | undefined };

/** Keys of this user's packs, by the 16 bytes at the start of an encrypted pack, which change with its key. */
export type KeyStore = {
  /** @throws SvcError encryption_failed if a key file must not be used */
  find(salt: Uint8Array): Promise<KeySearch>;
  /** Every place that holds a key of the pack. */
  places(salt: Uint8Array): Promise<readonly PlaceState[]>;
  /** Keeps a key in the secret store or, if there is none, in a key file. @throws SvcError encryption_failed */
  save(salt: Uint8Array, masterKey: Uint8Array): Promise<KeyPlace>;
  /** Removes the key from every place. @returns the places that held one */
  forget(salt: Uint8Array): Promise<readonly KeyPlace[]>;
};

export type KeyStoreOptions = {
  /** `auto`: the system's secret store if it works, else key files. `file`: key files only. */
  readonly kind: "auto" | "file";
  /** Of the process: the place of the files and the way to the secret store are platform conventions, not settings. */
  readonly environment: Environment;
};

const TIMEOUT_MS = 10_000;
const SECRET_STORE: KeyPlace = { kind: "secret-store" };

/** The key store of this user. Nothing is read or created before the first call. */
export function openKeyStore({ kind, environment }: KeyStoreOptions): KeyStore {
  const secrets =
    kind === "file" ? undefined : openSecretStore({ timeoutMs: TIMEOUT_MS, environment });
  return createKeyStore(() => keyFolder(environment), secrets);
}

/** A key store of these parts. @param folder where key files are; called when needed, and may throw then */
export function createKeyStore(folder: () => string, secrets: SecretStore | undefined): KeyStore {
  const nameOf = (salt: Uint8Array): string => Buffer.from(salt).toString("hex");
  const fileOf = (salt: Uint8Array): string => join(folder(), `${nameOf(salt)}.key`);
  const secretOf = async (salt: Uint8Array): Promise<string | undefined> => {
    const answer = await secrets?.get(nameOf(salt));
    return answer?.kind === "done" ? answer.value : undefined;
  };
  return {
    find: async (salt) => {
      // The file first: looking is cheap, and the secret store may have to prompt the user.
      const path = optional(() => fileOf(salt));
      const key = path === undefined ? undefined : readKeyFile(path);
      if (path !== undefined && key !== undefined) {
        return { kind: "found", key, place: { kind: "file", path } };
      }
      const answer = await secrets?.get(nameOf(salt));
      if (answer?.kind === "silent") return { kind: "silent" };
      if (answer?.kind !== "done" || answer.value === undefined) return { kind: "none" };
      return { kind: "found", key: answer.value, place: SECRET_STORE };
    },
    places: async (salt) => {
      const path = optional(() => fileOf(salt));
      const isSecret = (await secretOf(salt)) !== undefined;
      return [
        ...(isSecret ? [{ place: SECRET_STORE, problem: undefined }] : []),
        ...(path === undefined ? [] : fileStates(path)),
      ];
    },
    save: async (salt, masterKey) => {
      const key = `raw_key:${Buffer.from(masterKey).toString("base64url")}`;
      const isStored = (await secrets?.set(nameOf(salt), key))?.kind === "done";
      // Some stores accept secrets that they do not keep.
      if (isStored && (await secretOf(salt)) === key) return SECRET_STORE;
      const path = fileOf(salt);
      writeKeyFile(path, key);
      return { kind: "file", path };
    },
    forget: async (salt) => {
      const path = optional(() => fileOf(salt));
      const isSecret = (await secretOf(salt)) !== undefined;
      if (isSecret) await secrets?.delete(nameOf(salt));
      const isFile = path !== undefined && removeKeyFile(path);
      return [
        ...(isSecret ? [SECRET_STORE] : []),
        ...(isFile ? [{ kind: "file", path } as const] : []),
      ];
    },
  };
}

/** A place in words. */
export function placeName(place: KeyPlace): string {
  return place.kind === "file" ? place.path : "the system's secret store";
}

function fileStates(path: string): readonly PlaceState[] {
  const place: KeyPlace = { kind: "file", path };
  try {
    return readKeyFile(path) === undefined ? [] : [{ place, problem: undefined }];
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return [{ place, problem: error.message }];
  }
}

/** Without a home folder there are no key files to look for; only saving one must report that. */
function optional(path: () => string): string | undefined {
  try {
    return path();
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}
