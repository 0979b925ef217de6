import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addSettings, parseEnvFile } from "../../src/config/settings-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-settings-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = (...entries: [string, string][]) => new Map(entries);

test("settings are kept in a file that only this user can read, with any value", () => {
  const path = join(folder, "new.env");
  const values = settings(
    ["A", "plain-1"],
    ["B", "with blank # and $x"],
    ["C", `both ' and " and \\ and $x`],
    ["D", "two\nlines"],
  );
  addSettings(path, values);
  expect(parseEnvFile(readFileSync(path, "utf8"))).toEqual(values);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a file keeps what it has, and is closed to others", () => {
  const path = join(folder, "old.env");
  writeFileSync(path, "OTHER=1", { mode: 0o644 });
  addSettings(path, settings(["A", "2"]));
  expect(readFileSync(path, "utf8")).toBe("OTHER=1\nA=2\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => addSettings(path, settings(["A", "3"]))).toThrow("has A already; change it there");
});

test("a file that would not be read is not written", () => {
  const open = join(folder, "open.env");
  writeFileSync(open, "OTHER=1\n");
  chmodSync(open, 0o666);
  expect(() => addSettings(open, settings(["A", "2"]))).toThrow("other users can change it");
  expect(readFileSync(open, "utf8")).toBe("OTHER=1\n");
  const link = join(folder, "link.env");
  symlinkSync(join(folder, "elsewhere"), link);
  expect(() => addSettings(link, settings(["A", "2"]))).toThrow();
  expect(() => statSync(join(folder, "elsewhere"))).toThrow();
});
