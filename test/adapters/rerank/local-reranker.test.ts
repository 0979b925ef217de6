import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalReranker, startWorker } from "../../../src/adapters/rerank/local-reranker.ts";
import { MODEL, startHub, startSilentHost } from "./hub.ts";
import { relevanceOf, writeTinyModel } from "./tiny-model.ts";

const LIVELY = new AbortController().signal;

const place = mkdtempSync(join(tmpdir(), "svc-reranker-"));
const relevanceFolder = writeTinyModel("relevance", join(place, "relevance"));
const reranker = createLocalReranker({ model: relevanceFolder });

afterAll(async () => {
  await reranker.close();
  rmSync(place, { recursive: true, force: true });
});

/** The code with which a call fails. Bun's own `rejects` would stop this thread until it does. */
function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "resolved",
    (error: { readonly code?: string }) => error.code,
  );
}

describe("createLocalReranker", () => {
  test("scores each text in the order of the texts", async () => {
    const texts = ["the key lies under the flower pot", "ann likes tea", "the key"];
    const scores = await reranker.score("key flower pot", texts, LIVELY);
    expect(scores).toHaveLength(3);
    for (const [at, shared] of [3, 0, 1].entries()) {
      expect(scores[at]).toBeCloseTo(relevanceOf(shared), 6);
    }
  });

  test("leaves the event loop free while it loads and runs", async () => {
    const fresh = createLocalReranker({ model: relevanceFolder });
    const [here, everywhere] = [process.threadCpuUsage(), process.cpuUsage()];
    await fresh.score("ann ".repeat(60), Array(100).fill("ann ".repeat(60)), LIVELY);
    const own = process.threadCpuUsage(here);
    const whole = process.cpuUsage(everywhere);
    await fresh.close();
    // On this thread, loading and running would be most of the work.
    expect(own.user + own.system).toBeLessThan((whole.user + whole.system) / 2);
  });

  test.each([
    { name: "blank", model: " " },
    { name: "a step out of the cache folder", model: "..." },
    { name: "a step within a name", model: "a/.." },
    { name: "a name of three parts", model: "a/b/c" },
    { name: "an address", model: "https://host/model" },
  ])("refuses a model that is $name", ({ model }) => {
    expect(() => createLocalReranker({ model })).toThrow("names no model");
  });

  test("refuses a revision that is a path", () => {
    expect(() => createLocalReranker({ model: MODEL, revision: "../x" })).toThrow("no revision");
  });
});

describe("an aborted call", () => {
  test("rejects at once with the caller's reason, and the rest of its pairs is not read", async () => {
    let posted = 0;
    const model = createLocalReranker({
      model: relevanceFolder,
      spawn: () => {
        const worker = startWorker();
        const post = worker.postMessage.bind(worker);
        worker.postMessage = (message: { readonly kind: string }) => {
          if (message.kind === "judge") posted += 1;
          post(message);
        };
        return worker;
      },
    });
    await model.score("ann", ["ann"], LIVELY);
    const stop = new AbortController();
    const call = model.score("ann", Array(2000).fill("ann"), stop.signal);
    const reason = new Error("took too long");
    await Bun.sleep(1);
    const failure = call.catch((error: unknown) => error);
    stop.abort(reason);
    expect(await Promise.race([failure, Bun.sleep(0).then(() => "late")])).toBe(reason);
    const before = posted;
    expect(await model.score("ann", ["ann"], LIVELY)).toEqual([relevanceOf(1)]);
    await Bun.sleep(20);
    expect(posted).toBe(before + 1);
    await model.close();
  });

  test("is refused when it is aborted before it begins", async () => {
    const reason = new Error("never mind");
    const call = reranker.score("ann", ["ann"], AbortSignal.abort(reason));
    await expect(call).rejects.toBe(reason);
  });

  test("does not end the download, which a later call finds done", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const hub = startHub({
      answer: async (path) => {
        if (path.endsWith("config.json")) await gate;
        return undefined;
      },
    });
    const late = createLocalReranker({
      model: MODEL,
      hubUrl: hub.url,
      cacheDir: mkdtempSync(join(place, "cache-")),
    });
    await expect(late.score("ann", ["ann"], AbortSignal.timeout(50))).rejects.toMatchObject({
      name: "TimeoutError",
    });
    open();
    expect(await late.score("ann", ["ann"], LIVELY)).toEqual([relevanceOf(1)]);
    expect(hub.asked.filter((path) => path.endsWith("/config.json"))).toHaveLength(1);
    await late.close();
    hub.stop();
  });
});

describe("close", () => {
  test("rejects what is pending and every later call", async () => {
    const closing = createLocalReranker({ model: relevanceFolder });
    const pending = closing.score("ann", Array(500).fill("ann"), LIVELY);
    const ending = codeOf(pending);
    await closing.close();
    expect(await ending).toBe("engine_closed");
    await expect(closing.score("ann", ["ann"], LIVELY)).rejects.toMatchObject({
      code: "engine_closed",
    });
    await closing.close();
  });

  test("does not wait for a download", async () => {
    const host = startSilentHost();
    const closing = createLocalReranker({ model: MODEL, hubUrl: host.url, cacheDir: place });
    const pending = closing.score("ann", ["ann"], LIVELY);
    const ending = codeOf(pending);
    await Bun.sleep(20);
    const started = performance.now();
    await closing.close();
    expect(await ending).toBe("engine_closed");
    expect(performance.now() - started).toBeLessThan(20_000);
    host.stop();
  });

  test("leaves the process alone while the model reads", async () => {
    const file = join(import.meta.dir, "../../../src/adapters/rerank/local-reranker.ts");
    const program = `
      const { createLocalReranker } = await import(${JSON.stringify(file)});
      const { signal } = new AbortController();
      let refused = 0;
      for (let round = 0; round < 10; round += 1) {
        const model = createLocalReranker({ model: ${JSON.stringify(relevanceFolder)} });
        await model.score("ann", ["ann"], signal);
        const pending = model.score("ann", Array(500).fill("ann"), signal).catch(() => (refused += 1));
        await Bun.sleep(round % 4);
        await model.close();
        await pending;
      }
      console.log(refused);`;
    const child = Bun.spawn([process.execPath, "-e", program], {
      stdout: "pipe",
      stderr: "ignore",
    });
    expect(await child.exited).toBe(0);
    expect(await child.stdout.text()).toBe("10\n");
  });
});

describe("failure", () => {
  test("reports files that are missing, without the texts", async () => {
    const lost = createLocalReranker({ model: join(place, "nowhere") });
    const error: unknown = await lost.score("a secret", ["another secret"], LIVELY).catch((e) => e);
    expect(error).toMatchObject({ code: "model_failed" });
    expect(String(error)).toContain(`${join(place, "nowhere")} holds none of`);
    expect(String(error)).not.toContain("secret");
    await lost.close();
  });

  test("refuses a model with more than one number as a reranker", async () => {
    const wrong = createLocalReranker({ model: writeTinyModel("labels", join(place, "labels")) });
    await expect(wrong.score("ann", ["ann"], LIVELY)).rejects.toMatchObject({
      code: "model_failed",
    });
    await wrong.close();
  });

  test("tells a silent host once and does not wait for it again for a while", async () => {
    const stallTimeoutMs = 2000;
    const host = startSilentHost();
    const lost = createLocalReranker({
      model: MODEL,
      hubUrl: host.url,
      cacheDir: mkdtempSync(join(place, "cache-")),
      stallTimeoutMs,
    });
    await expect(lost.score("ann", ["ann"], LIVELY)).rejects.toMatchObject({
      code: "model_failed",
    });
    const started = performance.now();
    await expect(lost.score("ann", ["ann"], LIVELY)).rejects.toMatchObject({
      code: "model_failed",
    });
    expect(performance.now() - started).toBeLessThan(stallTimeoutMs);
    await lost.close();
    host.stop();
  });
});

test("does not keep the process alive when it is idle", async () => {
  const file = join(import.meta.dir, "../../../src/adapters/rerank/local-reranker.ts");
  const program = `
    const { createLocalReranker } = await import(${JSON.stringify(file)});
    const model = createLocalReranker({ model: ${JSON.stringify(relevanceFolder)} });
    console.log((await model.score("ann", ["ann"], new AbortController().signal)).length);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", timeout: 30_000 });
  expect(await child.exited).toBe(0);
  expect(await child.stdout.text()).toBe("1\n");
});
