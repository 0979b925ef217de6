import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  keyFolder,
  readKeyFile,
  removeKeyFile,
  writeKeyFile,
} from "../../../src/adapters/keystore/key-store.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { leftOut, NOT_ROOT } from "../../left-out.ts";
import { useFolders } from "../crypt/packs.ts";

const KEY = `raw_key:${Buffer.alloc(32, 7).toString("base64url")}`;
const OTHER = `raw_key:${Buffer.alloc(32, 8).toString("base64url")}`;

const folder = useFolders();

/** The path of a key file below a folder that does not exist yet. */
const place = (): string => join(folder(), "config/svc/keys/00ff.key");

function written(): string {
  const path = place();
  writeKeyFile(path, KEY);
  return path;
}

function refusal(path: string): SvcError {
  try {
    readKeyFile(path);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("the key file was read");
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

describe("a key file", () => {
  test("is readable by its owner alone, in a folder of its owner alone", () => {
    const path = written();
    expect(readFileSync(path, "utf8")).toBe(`${KEY}\n`);
    expect([modeOf(path), modeOf(dirname(path))]).toEqual([0o600, 0o700]);
    expect(readKeyFile(path)).toBe(KEY);
  });

  test("is replaced as a whole and leaves no draft behind", () => {
    const path = written();
    writeKeyFile(path, OTHER);
    expect(readKeyFile(path)).toBe(OTHER);
    expect(readdirSync(dirname(path))).toEqual(["00ff.key"]);
  });

  test("that is missing is no key, and removing it says so", () => {
    const path = place();
    expect(readKeyFile(path)).toBeUndefined();
    expect(removeKeyFile(path)).toBeFalse();
    writeKeyFile(path, KEY);
    expect(removeKeyFile(path)).toBeTrue();
    expect(readKeyFile(path)).toBeUndefined();
  });

  test("closes a folder that was open to others before it is written", () => {
    const path = place();
    mkdirSync(dirname(path), { recursive: true, mode: 0o777 });
    chmodSync(dirname(path), 0o777);
    writeKeyFile(path, KEY);
    expect(modeOf(dirname(path))).toBe(0o700);
  });
});

type Spoiled = { readonly name: string; readonly says: string; spoil(path: string): void };

const SPOILED: readonly Spoiled[] = [
  { name: "readable by others", says: "chmod 600", spoil: (path) => chmodSync(path, 0o644) },
  { name: "writable by its group", says: "chmod 600", spoil: (path) => chmodSync(path, 0o620) },
  {
    name: "in a folder that others can write to",
    says: "chmod 700",
    spoil: (path) => chmodSync(dirname(path), 0o777),
  },
  {
    name: "behind a symbolic link",
    says: "symbolic link",
    spoil: (path) => {
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
    },
  },
  { name: "empty", says: "holds no key", spoil: (path) => writeFileSync(path, "") },
  {
    name: "holding a passphrase",
    says: "holds no key",
    spoil: (path) => writeFileSync(path, "passphrase:open sesame\n"),
  },
  {
    name: "cut short",
    says: "holds no key",
    spoil: (path) => writeFileSync(path, KEY.slice(0, -4)),
  },
  {
    name: "a folder",
    says: "no regular file",
    spoil: (path) => {
      removeKeyFile(path);
      mkdirSync(path, { mode: 0o700 });
    },
  },
];

test.each([...SPOILED])("is not used when it is $name", ({ says, spoil }) => {
  const path = written();
  spoil(path);
  const error = refusal(path);
  expect(error.code).toBe("encryption_failed");
  expect(error.message).toContain(says);
  expect(error.message).toContain(path);
  expect(JSON.stringify([error.message, error.data])).not.toMatch(/BwcHBw|sesame/);
});

test.skipIf(NOT_ROOT !== undefined)(
  `is not used when it belongs to another user${leftOut(NOT_ROOT)}`,
  () => {
    const path = written();
    chownSync(path, 65_534, 65_534);
    expect(refusal(path).message).toContain("another user");
  },
);

test("a folder that cannot be made is named", () => {
  const path = place();
  mkdirSync(join(path, "../../.."), { recursive: true });
  writeFileSync(join(path, "../.."), "a file in the way");
  expect(() => writeKeyFile(path, KEY)).toThrow(dirname(path));
});

describe("the folder of the key files", () => {
  test.each([
    { environment: { XDG_CONFIG_HOME: "/a", HOME: "/b" }, expected: "/a/svc/keys" },
    { environment: { HOME: "/b" }, expected: "/b/.config/svc/keys" },
    { environment: { XDG_CONFIG_HOME: "a", HOME: "/b" }, expected: "/b/.config/svc/keys" },
  ])("follows $environment", ({ environment, expected }) => {
    expect(keyFolder(environment)).toBe(expected);
  });

  test("is asked for when nothing names it", () => {
    expect(() => keyFolder({ HOME: "here" })).toThrow("XDG_CONFIG_HOME");
  });
});
