import { describe, expect, test } from "bun:test";
import { at } from "../../contract/samples.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

const STATE = { subject: "I", predicate: "spent", scope: "personal", valid_at: at(5) };

function post({ ask }: OpenedApp, path: string, body: unknown, key?: string) {
  return ask(path, { body, ...(key !== undefined && { key }) });
}

describe("a bad query is 422 and names the field", () => {
  test.each<[path: string, body: object, detail: RegExp]>([
    [
      "assertions/aggregate",
      { query: { subjects: null } },
      /^query\.subjects: null is not a list$/,
    ],
    ["assertions/aggregate", { query: { units: [] } }, /^query\.units: is not a known key; the /],
    ["assertions/aggregate", { query: { group_by: ["unit"] } }, /^query\.group_by\[0\]: "unit" is/],
    [
      "assertions/aggregate",
      { query: { valid_at: "2026-01-01" } },
      /^query\.valid_at: .*time zone/,
    ],
    ["assertions/aggregate", { query: { subjects: [" "] } }, /^subjects\[0\]: must not be blank$/],
    ["quantities/aggregate", { query: { group_by: ["object"] } }, /^group_by: must contain unit/],
    ["assertions/state", { query: { ...STATE, scope: undefined } }, /^query\.scope: is required/],
  ])("%s %j", async (path, body, detail) => {
    const app = await open();
    const { status, json } = await post(app, `/v1/${path}`, { user_id: "ada", ...body });
    expect(status).toBe(422);
    expect(json).toEqual({ code: "invalid_argument", detail: expect.stringMatching(detail) });
  });
});
