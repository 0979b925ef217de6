import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, constants, getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createBacklog, type ModelThread } from "../../../src/adapters/embedding/backlog.ts";
import { bulkThreads, isDischarging } from "../../../src/adapters/embedding/cores.ts";
import {
  createLocalEmbedder,
  startWorker,
} from "../../../src/adapters/embedding/local-embedder.ts";
import { leftOut, NOT_LINUX } from "../../left-out.ts";
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

describe("a backlog", () => {
  const texts = (count: number) => Array.from({ length: count }, (_, i) => `Note ${i} on tea`);

  test("that is long gets threads of its own, which end with it, and the vectors of calls", async () => {
    const workers: Worker[] = [];
    const ended: Promise<unknown>[] = [];
    const many = createLocalEmbedder({
      bulkThreads: 2,
      lingerMs: 0,
      spawn: () => {
        const worker = startWorker();
        workers.push(worker);
        ended.push(once(worker, "exit"));
        return worker;
      },
    });
    const vectors = await Promise.all(texts(140).map((text) => many.embedLater!(text)));
    expect(workers).toHaveLength(3);
    await Promise.all(ended.slice(1));
    for (const at of [0, 127, 128, 139]) {
      expect(await many.embedDocument(`Note ${at} on tea`)).toEqual(vectors[at]!);
    }
    expect(workers).toHaveLength(3);
    await many.close();
  });

  /** A thread that answers when it is told. */
  function thread() {
    const asked: { readonly text: string; readonly answer: () => void }[] = [];
    let open = 0;
    const pending = new Set<Promise<unknown>>();
    const model: ModelThread = {
      embed: (text) => {
        const { promise, resolve } = Promise.withResolvers<Float32Array>();
        open += 1;
        pending.add(promise);
        const answer = () => {
          open -= 1;
          pending.delete(promise);
          resolve(new Float32Array(1));
        };
        asked.push({ text, answer });
        return promise;
      },
      busy: () => open,
      idle: () => Promise.all(pending),
      close: async () => void asked.push({ text: "closed", answer: () => {} }),
    };
    return { model, asked, texts: () => asked.map(({ text }) => text) };
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  test("that is short waits for the calls, one text at a time", async () => {
    const main = thread();
    const backlog = createBacklog({
      main: main.model,
      start: () => {
        throw new Error("a short backlog needs no thread");
      },
      threads: () => 4,
    });
    void main.model.embed("call 1");
    const later = ["a", "b"].map((text) => backlog.embed(text));
    expect(main.texts()).toEqual(["call 1"]);
    main.asked[0]!.answer();
    await settle();
    expect(main.texts()).toEqual(["call 1", "a"]);
    void main.model.embed("call 2");
    main.asked[1]!.answer();
    await settle();
    expect(main.texts()).toEqual(["call 1", "a", "call 2"]);
    main.asked[2]!.answer();
    await settle();
    expect(main.texts()).toEqual(["call 1", "a", "call 2", "b"]);
    main.asked[3]!.answer();
    await Promise.all(later);
    await backlog.close();
  });

  test("that is long leaves the thread of calls alone once its own answer", async () => {
    const main = thread();
    const own: ReturnType<typeof thread>[] = [];
    let allowed = 3;
    const backlog = createBacklog({
      main: main.model,
      start: () => {
        own.push(thread());
        return own.at(-1)!.model;
      },
      threads: () => allowed,
      lingerMs: 0,
    });
    const later = texts(200).map((text) => backlog.embed(text));
    for (let done = 0; own.length === 0; done += 1) {
      main.asked[done]!.answer();
      await settle();
    }
    expect(own.map(({ asked }) => asked.length)).toEqual([2, 2, 2]);
    const before = main.asked.length;
    own[0]!.asked[0]!.answer();
    await settle();
    main.asked.at(-1)!.answer();
    await settle();
    expect(main.asked).toHaveLength(before);
    expect(own.map(({ asked }) => asked.length)).toEqual([3, 2, 2]);
    allowed = 1;
    for (let at = 0; at < 200; at += 1) {
      for (const { asked } of own) asked[at]?.answer();
      await settle();
    }
    await Promise.all(later);
    await backlog.close();
    expect(own.map(({ texts }) => texts().at(-1))).toEqual(["closed", "closed", "closed"]);
    expect(main.texts()).not.toContain("closed");
  });

  test("gets through while calls never leave their thread idle", async () => {
    const main = thread();
    const own = thread();
    const { model } = main;
    const backlog = createBacklog({ main: model, start: () => own.model, threads: () => 1 });
    void model.embed("call");
    void backlog.embed("patient");
    for (let at = 0; own.asked.length === 0; at += 1) {
      void model.embed("call");
      main.asked[at]!.answer();
      await settle();
    }
    expect(own.texts()).toEqual(["patient"]);
    expect(main.texts()).not.toContain("patient");
  });

  test("is done before its close, though calls keep the thread busy meanwhile", async () => {
    const main = thread();
    const backlog = createBacklog({
      main: main.model,
      start: () => {
        throw new Error("nothing starts while it closes");
      },
      threads: () => 1,
    });
    void main.model.embed("call");
    const later = backlog.embed("patient");
    let isClosed = false;
    const closing = backlog.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    main.asked[0]!.answer();
    await settle();
    expect(main.texts()).toEqual(["call", "patient"]);
    main.asked[1]!.answer();
    await Promise.all([later, closing]);
  });

  test("has all cores but one, of two both, and one on battery unless it is set", () => {
    const cores = availableParallelism();
    const all = cores === 1 ? 1 : Math.min(8, Math.max(2, cores - 1));
    expect(bulkThreads(undefined, () => false)).toBe(all);
    expect(bulkThreads(undefined, () => true)).toBe(1);
    expect(bulkThreads(6, () => true)).toBe(6);
  });

  test.skipIf(NOT_LINUX !== undefined)(
    `gives way in its own threads${leftOut(NOT_LINUX)}`,
    async () => {
      const place = JSON.stringify(
        join(import.meta.dir, "../../../src/adapters/embedding/cores.ts"),
      );
      const code = `const { giveWay } = await import(${place});
      giveWay();
      const { getPriority } = await import("node:os");
      (await import("node:worker_threads")).parentPort.postMessage(getPriority());`;
      const before = getPriority();
      const worker = new Worker(code, { eval: true });
      const [priority] = await once(worker, "message");
      await worker.terminate();
      expect(priority).toBe(Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL));
      expect(getPriority()).toBe(before);
    },
  );

  test.each([
    ["a battery that is used up", ["TYPE=Battery", "STATUS=Discharging"], true],
    ["a battery that is charged", ["TYPE=Battery", "STATUS=Charging"], false],
    ["a mouse", ["TYPE=Battery", "SCOPE=Device", "STATUS=Discharging"], false],
    ["a plug", ["TYPE=Mains", "ONLINE=1"], false],
  ])("knows %s", (_, lines, expected) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-power-"));
    mkdirSync(join(folder, "one"));
    const uevent = lines.map((line) => `POWER_SUPPLY_${line}\n`).join("");
    writeFileSync(join(folder, "one/uevent"), uevent);
    expect(isDischarging(folder)).toBe(expected);
    rmSync(folder, { recursive: true });
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
