import type { Uuid } from "../lib/uuid.ts";
import { SvcError } from "./errors.ts";

/** A part of a workspace with a pack, or a schema of a database, of its own. */
export type Namespace = { readonly name: string; readonly id: Uuid };

/** A namespace, and whether its pack or its tables have been made. */
export type RegisteredNamespace = Namespace & { readonly isInitialized: boolean };

/** Which namespace is expected. `name`: the one that its workspace has for it; any if absent. */
export type NamespaceIdentity = { readonly id: Uuid; readonly name?: string | undefined };

/**
 * Checks that what was found is the expected namespace. One without a name has every name.
 * @param place where it was found
 * @param advice what to check, as the rest of a sentence
 * @throws SvcError namespace_mismatch
 */
export function requireIdentity(
  found: { readonly [Part in keyof NamespaceIdentity]: string | undefined },
  expected: NamespaceIdentity,
  { place, advice }: { readonly place: string; readonly advice: string },
): void {
  const refuse = (own: string | undefined, wanted: string): never => {
    const reason = own === undefined ? "has no namespace" : `belongs to the namespace ${own}`;
    throw new SvcError(
      "namespace_mismatch",
      `${place}: ${reason}, not ${wanted}. Nothing was changed; ${advice}.`,
      { path: place, expected: wanted, found: own ?? null },
    );
  };
  if (found.id !== expected.id) refuse(found.id, expected.id);
  const { name } = found;
  if (name === undefined || expected.name === undefined || name === expected.name) return;
  refuse(name, expected.name);
}

/** @param reason what is wrong with the place, as the rest of a sentence; likewise `advice` */
export function workspaceDamaged(
  place: string,
  reason: string,
  { advice, cause }: { readonly advice: string; readonly cause?: unknown },
): SvcError {
  const message = `${place}: ${reason}. Nothing was changed; ${advice}.`;
  const options = cause === undefined ? {} : { cause };
  return new SvcError("workspace_damaged", message, { path: place }, options);
}
