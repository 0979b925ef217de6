import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DownloadOptions,
  type DownloadProgress,
  downloadModel,
  fetchWatched,
  redirectTarget,
} from "../../../src/adapters/rerank/model-files.ts";
import { COMMIT, type Hub, MODEL, startHub, startSilentHost } from "./hub.ts";
import { tinyModelFiles } from "./tiny-model.ts";

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "svc-download-"));
  endings.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function running(hub: Hub): Hub {
  endings.push(hub.stop);
  return hub;
}

function download(hubUrl: string, cacheDir: string, more: Partial<DownloadOptions> = {}) {
  return downloadModel({
    id: MODEL,
    revision: "main",
    hubUrl,
    cacheDir,
    timeoutMs: 10_000,
    stallTimeoutMs: 5000,
    signal: new AbortController().signal,
    ...more,
  });
}

const failure = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof Error)) throw new Error("nothing was thrown");
  return error as Error & { code?: unknown };
};

/** Every file below a folder. */
const filesIn = (path: string) =>
  readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(path, name)).isFile())
    .sort();

describe("downloadModel", () => {
  test("brings the files of a model, all of one commit", async () => {
    const hub = running(startHub());
    const cache = folder();
    const path = await download(hub.url, cache);
    expect(path).toBe(join(cache, "models", MODEL, "main"));
    const files = tinyModelFiles("relevance");
    expect(filesIn(path)).toEqual([...Object.keys(files), "svc-download.json"].sort());
    for (const [name, content] of Object.entries(files)) {
      expect(readFileSync(join(path, name)).equals(content)).toBe(true);
    }
    expect(JSON.parse(readFileSync(join(path, "svc-download.json"), "utf8"))).toEqual({
      model: MODEL,
      revision: "main",
      commit: COMMIT,
    });
    expect(hub.asked).toEqual([
      `/${MODEL}/resolve/main/config.json`,
      `/${MODEL}/resolve/${COMMIT}/tokenizer.json`,
      `/${MODEL}/resolve/${COMMIT}/tokenizer_config.json`,
      `/${MODEL}/resolve/${COMMIT}/onnx/model_quantized.onnx`,
      `/${MODEL}/resolve/${COMMIT}/onnx/model.onnx`,
      "/blobs/onnx/model.onnx",
    ]);
  });

  test("asks nobody once the model is there", async () => {
    const hub = running(startHub());
    const cache = folder();
    const path = await download(hub.url, cache);
    hub.stop();
    expect(await download(hub.url, cache)).toBe(path);
  });

  test("lets two first calls at once end with one whole model", async () => {
    const hub = running(startHub());
    const cache = folder();
    const paths = await Promise.all([download(hub.url, cache), download(hub.url, cache)]);
    expect(new Set(paths).size).toBe(1);
    expect(readdirSync(join(cache, "models/someone/tiny-pairs"))).toEqual(["main"]);
  });

  test("tells how far it has come", async () => {
    const hub = running(startHub());
    const seen: DownloadProgress[] = [];
    await download(hub.url, folder(), { onProgress: (progress) => seen.push(progress) });
    const size = tinyModelFiles("relevance")["onnx/model.onnx"]?.length ?? 0;
    expect(seen.at(-1)).toEqual({
      model: MODEL,
      file: "onnx/model.onnx",
      receivedBytes: size,
      totalBytes: size,
    });
    expect(seen[0]?.file).toBe("config.json");
  });

  test("removes what an interrupted download left a day ago, and nothing newer", async () => {
    const hub = running(startHub());
    const cache = folder();
    const parent = join(cache, "models/someone/tiny-pairs");
    for (const name of ["main.partial-1-aa", "main.partial-2-bb", "other"]) {
      mkdirSync(join(parent, name), { recursive: true });
    }
    const longAgo = Date.now() / 1000 - 100_000;
    utimesSync(join(parent, "main.partial-1-aa"), longAgo, longAgo);
    utimesSync(join(parent, "other"), longAgo, longAgo);
    await download(hub.url, cache);
    expect(readdirSync(parent).sort()).toEqual(["main", "main.partial-2-bb", "other"]);
  });
});

describe("a download that fails keeps nothing and says why", () => {
  const nothingKept = (cache: string): void => {
    expect(existsSync(join(cache, "models")) ? filesIn(join(cache, "models")) : []).toEqual([]);
  };

  test.each([
    {
      name: "no such model",
      answer: () => new Response("", { status: 404 }),
      says: "it has no config.json, or there is no such model",
    },
    {
      name: "a private model",
      answer: () => new Response("secret words", { status: 401 }),
      says: "it is private, or there is no such model",
    },
    {
      name: "a host in trouble",
      answer: () => new Response("secret words", { status: 503 }),
      says: "answered config.json with status 503",
    },
    {
      name: "no weights",
      answer: (path: string) =>
        path.endsWith(".onnx") ? new Response("", { status: 404 }) : undefined,
      says: "it has none of onnx/model_quantized.onnx, onnx/model.onnx",
    },
    {
      name: "a changed file",
      answer: (path: string) => (path.startsWith("/blobs/") ? new Response("other") : undefined),
      says: "onnx/model.onnx arrived damaged",
    },
    {
      name: "endless redirects",
      answer: (path: string) => new Response(null, { status: 302, headers: { location: path } }),
      says: "the host redirected more than 5 times",
    },
  ])("$name", async ({ answer, says }) => {
    const hub = running(startHub({ answer }));
    const cache = folder();
    const error = await failure(download(hub.url, cache));
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain(says);
    expect(error.message).toContain("set the model to a folder");
    expect(error.message).not.toContain("secret");
    nothingKept(cache);
  });

  test("a closed port", async () => {
    const hub = startHub();
    hub.stop();
    const cache = folder();
    const error = await failure(download(hub.url, cache));
    expect(error.message).toMatch(/from 127\.0\.0\.1:\d+: the host cannot be reached \(\w+\)/);
    nothingKept(cache);
  });

  test("a host that accepts and stays silent is given up after the limit", async () => {
    const hub = running(startSilentHost());
    const cache = folder();
    const started = performance.now();
    const error = await failure(download(hub.url, cache, { stallTimeoutMs: 300 }));
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain("the host sent nothing for 0.3 seconds");
    nothingKept(cache);
  });

  test("a host that stops in the middle of a file is given up after the limit", async () => {
    const hub = running(
      startHub({ answer: (path) => (path.startsWith("/blobs/") ? stalling() : undefined) }),
    );
    const cache = folder();
    const started = performance.now();
    const error = await failure(download(hub.url, cache, { stallTimeoutMs: 300 }));
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(error.message).toContain("the host sent nothing for 0.3 seconds");
    nothingKept(cache);
  });

  test("a host that trickles is given up after the limit of the whole", async () => {
    const hub = running(startHub({ answer: () => trickling() }));
    const cache = folder();
    const error = await failure(download(hub.url, cache, { timeoutMs: 400 }));
    expect(error.message).toContain("the download took longer than 0.4 seconds");
    nothingKept(cache);
  });

  test("a folder that cannot be written", async () => {
    const hub = running(startHub());
    const cache = folder();
    writeFileSync(join(cache, "models"), "a file in the way");
    const error = await failure(download(hub.url, cache));
    expect(error.code).toBe("model_failed");
    expect(error.message).toContain("its files cannot be written (ENOTDIR)");
  });

  test("an aborted call rejects with the caller's reason", async () => {
    const hub = running(startSilentHost());
    const cache = folder();
    const stop = new AbortController();
    const call = download(hub.url, cache, { signal: stop.signal });
    const reason = new Error("no longer wanted");
    setTimeout(() => stop.abort(reason), 50);
    expect(await failure(call)).toBe(reason);
    nothingKept(cache);
  });
});

describe("a step of a download", () => {
  test("that the caller aborts before it begins rejects once, with the caller's reason", async () => {
    const hub = running(startSilentHost());
    const reason = new Error("no longer wanted");
    const stop = new AbortController();
    // The body is asked for after the end: neither promise of the step may be left to the runtime.
    const answer = running(startHub({ answer: () => stalling() }));
    const { body } = await fetchWatched(answer.url, { signal: stop.signal, stallTimeoutMs: 5000 });
    stop.abort(reason);
    expect(await failure(Array.fromAsync(body))).toBe(reason);
    const aborted = { signal: AbortSignal.abort(reason), stallTimeoutMs: 5000 };
    expect(await failure(fetchWatched(hub.url, aborted))).toBe(reason);
    await Bun.sleep(20);
  });
});

describe("a redirect", () => {
  test.each([
    { from: "https://hub/a/b", location: "/c", to: "https://hub/c" },
    { from: "https://hub/a", location: "https://store/b?x=1", to: "https://store/b?x=1" },
    { from: "http://hub/a", location: "http://store/b", to: "http://store/b" },
    { from: "http://hub/a", location: "https://store/b", to: "https://store/b" },
  ])("from $from to $location is followed", ({ from, location, to }) => {
    expect(redirectTarget(from, location)).toBe(to);
  });

  test.each(["http://store/b", "file:///b", "data:text/plain,b"])(
    "from an encrypted connection to %s is refused",
    (location) => {
      expect(() => redirectTarget("https://hub/a", location)).toThrow("not encrypted");
    },
  );
});

function stalling(): Response {
  return new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(100)),
      pull: () => new Promise(() => {}),
    }),
  );
}

function trickling(): Response {
  return new Response(
    new ReadableStream({
      pull: async (controller) => {
        await Bun.sleep(50);
        controller.enqueue(new Uint8Array(1));
      },
    }),
  );
}
