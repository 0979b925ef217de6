import { afterEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  keyFolder,
  readKeyFile,
  removeKeyFile,
  writeKeyFile,
} from "../../../src/adapters/keystore/key-store.ts";
import { linkSecret } from "../../../src/adapters/keystore/link-secret.ts";
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

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function home(): { readonly environment: { readonly HOME: string }; readonly keys: string } {
  const folder = mkdtempSync(join(tmpdir(), "svc-link-secret-"));
  folders.push(folder);
  return { environment: { HOME: folder }, keys: join(folder, ".config/svc/keys") };
}

test("it is 64 random digits in a file and a folder for this user alone, the same every time", () => {
  const { environment, keys } = home();
  const secret = linkSecret(environment);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(linkSecret(environment)).toBe(secret);
  expect(linkSecret(home().environment)).not.toBe(secret);
  expect(statSync(join(keys, "link.secret")).mode & 0o777).toBe(0o600);
  expect(statSync(keys).mode & 0o777).toBe(0o700);
});

test("one that was deleted is made again, another one", () => {
  const { environment, keys } = home();
  const secret = linkSecret(environment);
  unlinkSync(join(keys, "link.secret"));
  expect(linkSecret(environment)).not.toBe(secret);
});

test("processes that make it at the same moment have the same, and leave nothing else behind", async () => {
  const { environment, keys } = home();
  const module = new URL("../../../src/adapters/keystore/link-secret.ts", import.meta.url).pathname;
  const program = `console.log((await import(${JSON.stringify(module)})).linkSecret(process.env))`;
  const said = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const child = Bun.spawn([process.execPath, "-e", program], { env: environment });
      return (await new Response(child.stdout).text()).trim();
    }),
  );
  expect(new Set(said)).toEqual(new Set([linkSecret(environment)]));
  expect(readdirSync(keys)).toEqual(["link.secret"]);
});

test("a pipe in its place is refused, not waited for", () => {
  const { environment, keys } = home();
  linkSecret(environment);
  const path = join(keys, "link.secret");
  unlinkSync(path);
  execFileSync("mkfifo", ["-m", "600", path]);
  expect(() => linkSecret(environment)).toThrow(`${path} is not used: it is no regular file`);
});
