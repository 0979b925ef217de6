import { expect, test } from "bun:test";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

const REFUSED: readonly { name: string; body: object; key?: string; status: number }[] = [
  {
    name: "the global job of an owner's key",
    body: { jobs: ["feedback_apply"] },
    key: "key-a",
    status: 403,
  },
  {
    name: "the global job for a named owner",
    body: { user_id: "ada", jobs: ["feedback_apply"] },
    status: 422,
  },
];
test.each(REFUSED)("organize refuses $name with $status", async ({ body, key, status }) => {
  const { ask } = await open(key === undefined ? {} : KEYS);

  expect((await ask("/v1/organize", { body, ...(key !== undefined && { key }) })).status).toBe(
    status,
  );
});
