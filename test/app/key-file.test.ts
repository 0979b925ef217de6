/** Keys with names, in a file that a server reads again when it has changed. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addKey, readKeyFile, revokeKey, watchKeyFile } from "../../src/app/key-file.ts";
import { createAuthenticate } from "../../src/surface/listener/auth.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-keys-"));
  path = join(folder, "keys.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a key opens what is its owner's from when it is made until it is revoked, without a restart", () => {
  const authenticate = createAuthenticate({ named: watchKeyFile(path) });
  const owner = (key: string) => authenticate(`Bearer ${key}`).boundUserId;
  expect(() => owner("x")).toThrow("Invalid or missing API key");

  const [laptop, phone] = [addKey(path, "laptop", "ada"), addKey(path, "phone", "ada")];
  const ops = addKey(path, "ops", undefined);
  expect([laptop, phone, ops].map(owner)).toEqual(["ada", "ada", undefined]);
  expect(() => addKey(path, "phone", "bob")).toThrow("phone is there already");
  revokeKey(path, "phone");
  expect(() => owner(phone)).toThrow("Invalid or missing API key");
  expect(owner(laptop)).toBe("ada");
  expect(() => revokeKey(path, "phone")).toThrow("there is no key phone");
  expect(readFileSync(path, "utf8")).not.toContain(laptop);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a file that cannot be read opens nothing, and no server starts with it", () => {
  const key = addKey(path, "laptop", "ada");
  const authenticate = createAuthenticate({ named: watchKeyFile(path) });
  for (const text of [
    "",
    "[]",
    '{"keys":[{"name":"a","owner":"ada","sha256":"00","created":""}]}',
  ]) {
    writeFileSync(path, text);
    expect(() => authenticate(`Bearer ${key}`)).toThrow("Invalid or missing API key");
    expect(() => watchKeyFile(path)).toThrow("api.keys_file");
    expect(() => readKeyFile(path)).toThrow("api.keys_file");
  }
});
