import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsFingerprint } from "../../src/config/fingerprint.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-fingerprint-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fingerprint = (environment: Readonly<Record<string, string>>): string =>
  settingsFingerprint({ program: [], version: "1.0.0", key: undefined, environment, folder });

const BARE = fingerprint({});

describe("two processes are of one kind", () => {
  test.each([
    "SVC_API_API_KEY",
    "SVC_API__API_KEY",
    "svc_api__user_keys",
    "SVC_API_USER_KEYS__ADA",
    "SVC_API_CORS_ORIGINS",
    "SVC_API",
    "SVC_MCP_USER_KEYS",
    "SVC_MCP__USER_KEYS",
    "SVC_MCP_USER_KEYS__ADA",
    "SVC_MCP_USER_ID",
    "svc_mcp__user_id",
    "PATH",
  ])("whatever %s says: it is about who may come", (name) => {
    expect(fingerprint({ [name]: "something" })).toBe(BARE);
  });
});

describe("two processes are of different kinds", () => {
  test.each([
    "SVC_VECTOR_K",
    "SVC_APIARY",
    "SVC_MCP",
    "SVC_MCP_USER_KEYSTONE",
    "SVC_ENCRYPTION_KEY",
    "svc_default_scope",
  ])("when only one has %s", (name) => {
    expect(fingerprint({ [name]: "something" })).not.toBe(BARE);
  });
});
