import { afterEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { linkSecret } from "../../../src/adapters/keystore/link-secret.ts";
import { NOT_ROOT } from "../../left-out.ts";

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

const elsewhere = (path: string): void => {
  renameSync(path, `${path}.elsewhere`);
  symlinkSync(`${path}.elsewhere`, path);
};
test.each<readonly [string, (path: string) => void]>([
  ["that others can read", (path) => chmodSync(path, 0o644)],
  ["that is a link", elsewhere],
  ["in a folder that others may write to", (path) => chmodSync(dirname(path), 0o777)],
  ["of another form", (path) => writeFileSync(path, "short\n")],
  ...(NOT_ROOT === undefined
    ? [["of another user", (path: string) => chownSync(path, 65534, 65534)] as const]
    : []),
])("one %s is not trusted", (_, change) => {
  const { environment, keys } = home();
  linkSecret(environment);
  const path = join(keys, "link.secret");
  change(path);
  expect(() => linkSecret(environment)).toThrow(keys);
});
