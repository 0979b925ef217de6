import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { useApps } from "./engine-app.ts";

const { open } = useApps();

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/aggregation.md"), "utf8");
const BLOCK = /^```json (?:post (\/\S+)|(answer))\n([\s\S]*?)^```$/gm;

test("each example of docs/aggregation.md is answered as it says", async () => {
  const { ask } = await open();
  let given: unknown;
  let checked = 0;
  for (const [, path, answer, text] of PAGE.matchAll(BLOCK)) {
    if (path !== undefined) {
      const { status, json } = await ask(path, { body: JSON.parse(text ?? "") });
      expect(status).toBe(200);
      given = json;
    } else if (answer !== undefined) {
      expect(given).toMatchObject(JSON.parse(text ?? ""));
      checked += 1;
    }
  }
  expect(checked).toBe(5);
});
