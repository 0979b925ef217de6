import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { CHATGPT, zipOf } from "../../engine/import/samples.ts";
import { KEYS, useApps } from "./engine-app.ts";

setDefaultTimeout(120_000);

const { open } = useApps();

describe("POST /v1/import", () => {
  const body = () => readFileSync(zipOf({ "conversations.json": JSON.stringify(CHATGPT) }));

  test("shows what a file would bring in, and brings it in", async () => {
    const { app } = await open();
    const post = async (query: string) => {
      const path = `/v1/import?user_id=anna${query}`;
      const answer = await app.request(path, { method: "POST", body: body() });
      // SAFETY: every answer of this interface is a JSON object.
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
    };
    const { json: dry } = await post("&dry_run=true&sample=2");
    expect(dry).toMatchObject({ dry_run: true, import_id: null, records: { said: { new: 2 } } });
    expect(dry["samples"]).toHaveLength(2);
    const { json: report } = await post("");
    expect(report).toMatchObject({
      sources: [{ source: "chatgpt" }],
      records: { said: { new: 2 } },
    });
    const { json: again } = await post("");
    expect(again).toMatchObject({ import_id: null, records: { said: { unchanged: 2 } } });
    const refused = await post("&dry_run=perhaps");
    expect(refused).toMatchObject({ status: 422, json: { code: "invalid_argument" } });
  });

  test("needs a key, and takes a bound key for its owner alone", async () => {
    const { app } = await open(KEYS);
    const ask = (query: string, key?: string) =>
      app.request(`/v1/import${query}`, {
        ...{ method: "POST", body: body() },
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      });
    expect((await ask("?user_id=ada")).status).toBe(401);
    expect((await ask("?user_id=bob", "key-a")).status).toBe(403);
    expect((await ask("?user_id=ada", "key-a")).status).toBe(200);
    expect((await app.request("/v1/import")).status).toBe(405);
  });
});
