import { expect, test } from "bun:test";
import { release } from "node:os";
import { PLATFORM } from "../../src/adapters/native/system-files.ts";
import { checkPlatform } from "../../src/doctor/diagnose.ts";

test.each([
  ["linux-x64", "6.1.0-21-amd64", "ok", "linux-x64, kernel 6.1.0-21-amd64"],
  ["linux-arm64", "6.1", "ok", "vectors differ"],
  ["darwin-arm64", "23.0.0", "ok", "vectors differ"],
  ["darwin-arm64", "22.6.0", "fail", "macOS 14"],
  ["windows-x64", "10.0.22631", "ok", "a preview"],
] as const)("%s with kernel %s is %s: %s", (platform, kernel, status, told) => {
  const found = checkPlatform(platform, kernel);
  expect([found.status, found.message]).toEqual([status, expect.stringContaining(told)]);
});

test("this machine is one of the platforms there are programs for", () => {
  expect(PLATFORM).toMatch(/^(linux|darwin|windows)-(x64|arm64)$/);
  expect(checkPlatform(PLATFORM, release()).message).toContain(release());
});
