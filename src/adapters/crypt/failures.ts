import { SvcError } from "../../domain/errors.ts";

/** The error for an encrypted pack that is opened without a key. */
export function keyMissing(path: string): SvcError {
  return encryptionFailed(path, "is encrypted, and no key was given", "Give its key or passphrase");
}

/**
 * The error for a key that does not open a pack. The first bytes of a pack determine its keys, so damage there looks the
 * same.
 */
export function keyWrong(path: string, cause?: unknown): SvcError {
  return encryptionFailed(
    path,
    "the key or passphrase does not open it (or its first 16 bytes are damaged)",
    "Check the key",
    cause,
  );
}

/** The error for a key given for an unencrypted pack: opening never encrypts. */
export function notEncrypted(path: string): SvcError {
  return encryptionFailed(
    path,
    "is not encrypted, and a key was given",
    "Open it without a key, or make an encrypted copy of it",
  );
}

/** The error for a page whose authentication failed. */
export function packDamaged(path: string, cause?: unknown): SvcError {
  return new SvcError(
    "pack_damaged",
    `${path}: was damaged or changed from outside: a part of it is not what was written. Restore it from a copy; svc doctor ${path} says more.`,
    { path },
    cause === undefined ? {} : { cause },
  );
}

/** The error for a second engine on an encrypted pack in one process. */
export function packInUse(path: string): SvcError {
  return new SvcError(
    "pack_in_use",
    `${path}: is encrypted and already open in this process; nothing was changed. Share that engine, or close it first.`,
    { path },
  );
}

function encryptionFailed(path: string, what: string, remedy: string, cause?: unknown): SvcError {
  return new SvcError(
    "encryption_failed",
    `${path}: ${what}; nothing was changed. ${remedy}.`,
    { path },
    cause === undefined ? {} : { cause },
  );
}
