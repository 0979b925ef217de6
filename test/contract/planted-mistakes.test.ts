import { expect, test } from "bun:test";
import { join } from "node:path";
import { MISTAKES } from "./planted-mistakes.ts";

/** Names of the tests that failed when the contract was run on every store with a mistake. */
async function failures(): Promise<readonly string[]> {
  const child = Bun.spawn(
    [process.execPath, "test", join(import.meta.dir, "planted-mistakes.ts")],
    {
      env: { ...process.env, PLANTED_MISTAKES: "1" },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const said = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  return Array.from(
    said.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm),
    ([, name]) => name ?? "",
  );
}

const failed = await failures();

test.each(Object.entries(MISTAKES))(
  "the contract notices a store that %s",
  (name, { caughtBy }) => {
    const prefix = `the store for retrieval: ${name} > `;
    const caught = failed.filter((test) => test.startsWith(prefix));

    expect(caught).toContain(prefix + caughtBy);
  },
);
