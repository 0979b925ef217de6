import { expect, test } from "bun:test";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

test("organize answers with the jobs that ran, their counts and the time", async () => {
  const { ask } = await open();

  const { status, json } = await ask("/v1/organize", {
    body: { jobs: ["promote", "nonsense"], budget_ms: 60_000, unknown: 1 },
  });

  expect(status).toBe(200);
  expect(json).toEqual({
    jobs_run: ["promote"],
    skipped_because: { nonsense: "unknown" },
    per_job: {
      promote: {
        job: "promote",
        nodes_processed: 0,
        nodes_modified: 0,
        errors: 0,
        duration_ms: expect.any(Number),
        details: {},
      },
    },
    duration_ms: expect.any(Number),
  });
});

test.each([0, -5, -(2 ** 53 - 1)])(
  "a budget of %p runs no job, and is no mistake",
  async (budget) => {
    const { ask } = await open();

    const { status, json } = await ask("/v1/organize", { body: { budget_ms: budget } });

    expect(status).toBe(200);
    expect(json).toMatchObject({ jobs_run: [], per_job: {} });
  },
);

test("a dry run answers with what would change", async () => {
  const { ask } = await open();

  const { json } = await ask("/v1/organize", { body: { jobs: [], dry_run: true } });

  expect(json["would_change"]).toEqual({ changes: [], more: 0 });
});

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
