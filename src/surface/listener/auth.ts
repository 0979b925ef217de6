import { createHash, timingSafeEqual } from "node:crypto";
import { SvcError } from "../../domain/errors.ts";
import { nameForm } from "../../lib/text.ts";
import type { Caller } from "../contract/core/caller.ts";

/** Who may call. All absent: everyone on this machine has access to all owners. */
export type AuthSettings = {
  /** One key for operators. */
  readonly apiKey?: string | undefined;
  /** The setting of that key, which error messages name. Default `api.api_key`. */
  readonly keySetting?: string | undefined;
  /** Owner to key; a key binds its requests to its owner. */
  readonly userKeys?: Readonly<Record<string, string>> | undefined;
  /** Further keys, asked for at every request: the SHA-256 of each in hex, and its owner, null for an operator's. */
  readonly named?:
    | (() => readonly { readonly sha256: string; readonly owner: string | null }[])
    | undefined;
  /** The group of settings that error messages name. Default `api`. */
  readonly group?: "api" | "mcp" | undefined;
};

/** Identifies the caller by the `Authorization` header. @throws SvcError unauthenticated */
export type Authenticate = (authorization: string | undefined) => Caller;

type KnownKey = { readonly digest: Buffer; readonly caller: Caller };

/** Whether requests need a key. */
export function hasCredentials(auth: AuthSettings): boolean {
  const { apiKey, userKeys = {}, named } = auth;
  return apiKey !== undefined || named !== undefined || Object.keys(userKeys).length > 0;
}

/**
 * The check of every request. All configured keys are compared, in constant time, regardless of matches.
 * @throws SvcError invalid_config for blank or equal keys, keys that no header can carry, blank owners, or two names of one owner
 */
export function createAuthenticate(auth: AuthSettings): Authenticate {
  const fixed = readKeys(auth);
  const named = () =>
    (auth.named?.() ?? []).map(({ sha256, owner }) => ({
      digest: Buffer.from(sha256, "hex"),
      caller: { boundUserId: owner ?? undefined },
    }));
  if (!hasCredentials(auth)) return () => ({ boundUserId: undefined });
  return (authorization) => {
    const token = /^bearer\s+(.*)$/is.exec(authorization?.trim() ?? "")?.[1]?.trim() ?? "";
    const digest = digestOf(token);
    let found: Caller | undefined;
    for (const key of [...fixed, ...named()]) {
      if (timingSafeEqual(key.digest, digest)) found = key.caller;
    }
    if (found === undefined) throw new SvcError("unauthenticated", "Invalid or missing API key");
    return found;
  };
}

/** Whether a caller passes a check. */
export function isKnown(authenticate: Authenticate, authorization: string | undefined): boolean {
  try {
    authenticate(authorization);
    return true;
  } catch {
    return false;
  }
}

function readKeys(auth: AuthSettings): readonly KnownKey[] {
  const setting = `${auth.group ?? "api"}.user_keys`;
  const userKeys = Object.entries(auth.userKeys ?? {});
  const texts = new Set<string>();
  const operators: KnownKey[] = [];
  if (auth.apiKey !== undefined) {
    const { keySetting = "api.api_key" } = auth;
    if (auth.apiKey.trim() === "") throw misconfigured(keySetting, "must not be blank");
    if (!isSendable(auth.apiKey)) throw misconfigured(keySetting, `is a key ${UNSENDABLE}`);
    texts.add(auth.apiKey.trim());
    operators.push({ digest: digestOf(auth.apiKey.trim()), caller: { boundUserId: undefined } });
  }
  const names = new Set<string>();
  const users = userKeys.map(([owner, key]) => {
    if (owner.trim() === "") throw misconfigured(setting, "has a blank owner");
    if (key.trim() === "") throw misconfigured(setting, `has a blank key for ${owner}`);
    if (!isSendable(key)) {
      throw misconfigured(setting, `has a key for ${owner} ${UNSENDABLE}`);
    }
    if (texts.has(key.trim())) throw misconfigured(setting, "has one key for two owners");
    texts.add(key.trim());
    const form = nameForm(owner);
    if (names.has(form)) throw misconfigured(setting, `has two names of one owner, ${form}`);
    names.add(form);
    return { digest: digestOf(key.trim()), caller: { boundUserId: form } };
  });
  return [...operators, ...users];
}

const UNSENDABLE = "with characters that headers do not carry; use those of ASCII";

/** Whether all clients send it as the same bytes. */
function isSendable(key: string): boolean {
  return /^[\x20-\x7e]*$/.test(key.trim());
}

/** Digests have equal length, as a constant-time comparison requires. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function misconfigured(setting: string, message: string): SvcError {
  return new SvcError("invalid_config", `${setting}: ${message}`, { setting });
}
