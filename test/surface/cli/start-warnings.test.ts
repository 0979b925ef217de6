import { afterAll, expect, test } from "bun:test";
import { createDesk } from "./run-svc.ts";

const desk = createDesk();
afterAll(() => desk.remove());

const init = desk.run(["init", "./memory.pack", "--plain"]);

test("settings of other parts and without effect are told once and end nothing", async () => {
  await init;
  const env = {
    SVC_EMBEDDING_API_KEY: "hidden",
    SVC_VECTOR_EXACT_SEARCH: "true",
    SVC_VECTOR_SAVE_INTERVAL: "5",
  };
  const told = [
    "embedding.api_key has no effect",
    "vector_exact_search has no effect",
    "vector_save_interval has no effect",
  ];

  const { code, stderr } = await desk.run(["store", "./memory.pack", "Anna drinks tea"], { env });

  expect(code).toBe(0);
  for (const words of told) expect(stderr.split(words)).toHaveLength(2);
  expect(stderr).not.toContain("hidden");
});

test("a pack with vectors of another model is opened, and told once on standard error", async () => {
  await init;
  const env = { SVC_EMBEDDING__MAX_TOKENS: "128" };

  const { code, stdout, stderr } = await desk.run(["search", "./memory.pack", "tea"], { env });

  expect(code).toBe(0);
  expect(stdout).toContain("Anna drinks tea");
  expect(stderr.split("Warning: the vectors of the pack are of the embedding model")).toHaveLength(
    2,
  );
  const same = await desk.run(["search", "./memory.pack", "tea"]);
  expect(same.stderr).not.toContain("embedding model");
});
