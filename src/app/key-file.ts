import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { replaceFile } from "../adapters/native/system-files.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import { nameForm } from "../lib/text.ts";

/** A key of a server: its name and hash, never the key itself. */
const keySchema = z.strictObject({
  name: z.string().regex(/^[\w.@-]{1,64}$/),
  /** Null: an operator's, with access to all owners. */
  owner: z.string().min(1).nullable(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.string(),
});
const fileSchema = z.strictObject({ keys: z.array(keySchema) });

export type NamedKey = z.infer<typeof keySchema>;

/** The keys in a file; none if there is no file. @throws SvcError invalid_config for another content */
export function readKeyFile(path: string): readonly NamedKey[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw unreadable(path, error);
  }
  try {
    return fileSchema.parse(JSON.parse(text)).keys;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): SvcError {
  const message = `api.keys_file: ${path} is no file of svc keys, or cannot be read`;
  return new SvcError("invalid_config", message, { setting: "api.keys_file" }, { cause });
}

/** The keys in a file at each moment: it is read again when it has changed. Unreadable: none, until it is mended. */
export function watchKeyFile(path: string): () => readonly NamedKey[] {
  let keys = readKeyFile(path);
  let seen = stateOf(path);
  return () => {
    const now = stateOf(path);
    if (now !== seen) {
      seen = now;
      try {
        keys = readKeyFile(path);
      } catch {
        keys = [];
      }
    }
    return keys;
  };
}

function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? "" : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

/** Makes a key under a new name. @param owner undefined: of an operator @returns the key, which is kept nowhere @throws SvcError invalid_argument */
export function addKey(path: string, name: string, owner: string | undefined): string {
  const keys = readKeyFile(path);
  if (!keySchema.shape.name.safeParse(name).success) {
    throw invalid("<name>", "must have 1 to 64 letters, digits, or signs of . @ _ -");
  }
  if (keys.some((key) => key.name === name)) throw invalid("<name>", `${name} is there already`);
  const key = `svc_${randomBytes(32).toString("base64url")}`;
  const sha256 = createHash("sha256").update(key).digest("hex");
  const named = owner === undefined ? null : nameForm(owner);
  write(path, [...keys, { name, owner: named, sha256, created: new Date().toISOString() }]);
  return key;
}

/** @throws SvcError invalid_argument for an unknown name */
export function revokeKey(path: string, name: string): void {
  const keys = readKeyFile(path);
  const left = keys.filter((key) => key.name !== name);
  if (left.length === keys.length) throw invalid("<name>", `there is no key ${name} in ${path}`);
  write(path, left);
}

function write(path: string, keys: readonly NamedKey[]): void {
  replaceFile(path, `${JSON.stringify({ keys }, null, 2)}\n`, 0o600);
}
