import { afterAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import {
  createLocalEmbedder,
  startWorker,
} from "../../../src/adapters/embedding/local-embedder.ts";
import { processorMs } from "../../processor-time.ts";

const embedder = createLocalEmbedder();
afterAll(() => embedder.close());

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe("createLocalEmbedder", () => {
  test("names model, recipe and dimension", () => {
    expect(embedder.identity).toEqual({
      model: "BAAI/bge-small-en-v1.5",
      version: "q8-cls-l2-1",
      dimension: 384,
    });
  });

  test("has another identity with another length limit", () => {
    const { identity } = createLocalEmbedder({ maxTokens: 128 });
    expect(identity.version).not.toBe(embedder.identity.version);
  });

  test("gives unit vectors of the dimension it names", async () => {
    const vector = await embedder.embedDocument("Ann: I moved to Oslo in May");
    expect(vector).toHaveLength(embedder.identity.dimension);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  });

  test("encodes a question differently from a document", async () => {
    const text = "Where does Ann live?";
    const [asked, stored] = await Promise.all([
      embedder.embedQuery(text),
      embedder.embedDocument(text),
    ]);
    expect(cosine(asked, stored)).toBeLessThan(0.99);
    const prefix = "Represent this sentence for searching relevant passages: ";
    expect(await embedder.embedDocument(prefix + text)).toEqual(asked);
  });

  test.each([
    {
      name: "a move",
      question: "Which city did Ann move to?",
      near: "Ann: I relocated to Oslo last spring",
      far: "Bob: the printer is out of paper again",
    },
    {
      name: "a meal",
      question: "What did they eat?",
      near: "We had grilled fish for dinner",
      far: "The train to Bergen was late",
    },
  ])("finds the related text nearer for $name", async ({ question, near, far }) => {
    const asked = await embedder.embedQuery(question);
    const nearness = cosine(asked, await embedder.embedDocument(near));
    expect(nearness).toBeGreaterThan(0.1 + cosine(asked, await embedder.embedDocument(far)));
  });

  test("gives each of 50 overlapping calls the vector it has alone", async () => {
    const other = createLocalEmbedder();
    const texts = Array.from({ length: 50 }, (_, i) => `Memory ${i}: ${"detail ".repeat(i % 7)}`);
    const together = await Promise.all(texts.map((text) => embedder.embedDocument(text)));
    for (const i of [0, 13, 26, 49]) {
      expect(await other.embedDocument(texts[i] ?? "")).toEqual(together[i] ?? new Float32Array());
    }
    expect(new Set(together.map((vector) => vector.join())).size).toBe(50);
    await other.close();
  });

  test("hands out a copy that the caller may change", async () => {
    const first = await embedder.embedDocument("Shared text");
    const kept = first.slice();
    first.fill(0);
    expect(await embedder.embedDocument("Shared text")).toEqual(kept);
  });

  test("remembers vectors: a repeated text costs no run", async () => {
    await embedder.embedQuery("repeated", "ada");
    const started = processorMs();
    for (let i = 0; i < 200; i++) await embedder.embedQuery("repeated", "ada");
    expect(processorMs() - started).toBeLessThan(200);
  });

  test("remembers vectors for their owner alone, until that owner forgets", async () => {
    const runs = async (owner: string | undefined): Promise<number> => {
      const before = embedder.use!().computed;
      await embedder.embedDocument("the PIN is 4711", owner);
      return embedder.use!().computed - before;
    };
    expect(await runs("ada")).toBe(1);
    expect(await runs("ada")).toBe(0);
    expect(await runs("ad")).toBe(1);
    expect(await runs(undefined)).toBe(1);
    expect(await runs(undefined)).toBe(1);
    embedder.forget!("ad");
    expect(await runs("ada")).toBe(0);
    expect(await runs("ad")).toBe(1);
  });
});

describe("close", () => {
  test("finishes what is queued and rejects later calls", async () => {
    const closing = createLocalEmbedder();
    const queued = [closing.embedDocument("first"), closing.embedDocument("second")];
    await closing.close();
    expect((await Promise.all(queued)).map((vector) => vector.length)).toEqual([384, 384]);
    await expect(closing.embedDocument("third")).rejects.toMatchObject({ code: "engine_closed" });
    await expect(closing.embedQuery("first")).rejects.toMatchObject({ code: "engine_closed" });
    await closing.close();
  });

  test("may come before any call", async () => {
    await createLocalEmbedder().close();
  });
});

describe("failure", () => {
  test("starts another thread when the first one has ended", async () => {
    const workers: Worker[] = [];
    const mortal = createLocalEmbedder({
      spawn: () => {
        const worker = startWorker();
        workers.push(worker);
        return worker;
      },
    });
    const before = await mortal.embedDocument("before");
    await workers[0]?.terminate();
    expect(await mortal.embedDocument("one")).toHaveLength(384);
    expect(await mortal.embedDocument("before")).toEqual(before);
    expect(workers).toHaveLength(2);
    await mortal.close();
  });

  test("reports a thread that cannot start and tries again with the next call", async () => {
    let isBroken = true;
    const late = createLocalEmbedder({
      spawn: () => {
        if (isBroken) throw new Error("no more threads");
        return startWorker();
      },
    });
    await expect(late.embedDocument("text")).rejects.toMatchObject({ code: "embedding_failed" });
    isBroken = false;
    expect(await late.embedDocument("text")).toHaveLength(384);
    await late.close();
  });

  test("reports files that are missing, without the text", async () => {
    const lost = createLocalEmbedder({ modelRoot: join(tmpdir(), "svc-no-such-model") });
    const error = await lost.embedDocument("a secret").catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "embedding_failed" });
    expect(String(error)).not.toContain("secret");
    await lost.close();
  });
});

test("does not keep the process alive when it is idle", async () => {
  const file = join(import.meta.dir, "../../../src/adapters/embedding/local-embedder.ts");
  const program = `
    const { createLocalEmbedder } = await import(${JSON.stringify(file)});
    console.log((await createLocalEmbedder().embedDocument("text")).length);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", timeout: 30_000 });
  expect(await child.exited).toBe(0);
  expect(await child.stdout.text()).toBe("384\n");
});
