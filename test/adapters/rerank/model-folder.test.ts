import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  type DownloadProgress,
  downloadFolder,
  isDownloaded,
  parseModelSource,
  progressLines,
  RECEIPT_NAME,
} from "../../../src/adapters/rerank/model-files.ts";

describe("parseModelSource", () => {
  test.each([
    { model: "/models/a", path: "/models/a" },
    { model: "./a", path: resolve("a") },
    { model: "../a", path: resolve("../a") },
    { model: "~/models/a", path: "/home/ann/models/a" },
  ])("takes $model for a folder", ({ model, path }) => {
    expect(parseModelSource(model, "main", "/home/ann")).toEqual({ kind: "folder", path });
  });

  test.each(["bert", "someone/bert-base_v1.5"])("takes %s for a name on the hub", (id) => {
    expect(parseModelSource(id, "v1.0", "/home/ann")).toEqual({
      kind: "hub",
      id,
      revision: "v1.0",
    });
  });
});

test("each model and revision has a download folder of its own below the cache folder", () => {
  expect(downloadFolder("/cache", "someone/bert", "main")).toBe("/cache/models/someone/bert/main");
});

test("a folder is downloaded once it holds the record of the download", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-folder-"));
  try {
    expect(isDownloaded(folder)).toBe(false);
    writeFileSync(join(folder, RECEIPT_NAME), '{"commit":"abc"}');
    expect(isDownloaded(folder)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("progressLines", () => {
  const linesOf = (steps: readonly Partial<DownloadProgress>[]): readonly string[] => {
    const lines: string[] = [];
    const report = progressLines((line) => lines.push(line));
    for (const step of steps) {
      report({
        model: "a/b",
        file: "model.onnx",
        receivedBytes: 0,
        totalBytes: 2_000_000,
        ...step,
      });
    }
    return lines;
  };

  test("says each tenth once, however many pieces arrive", () => {
    const pieces = Array.from({ length: 1001 }, (_, at) => ({ receivedBytes: at * 2000 }));
    const lines = linesOf(pieces);
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe("downloading a/b: model.onnx, 0 % of 2.0 MB");
    expect(lines.at(-1)).toBe("downloading a/b: model.onnx, 100 % of 2.0 MB");
  });

  test("says each file of unknown size once", () => {
    const lines = linesOf([
      { file: "config.json", totalBytes: undefined, receivedBytes: 10 },
      { file: "config.json", totalBytes: undefined, receivedBytes: 20 },
      { file: "tokenizer.json", totalBytes: undefined, receivedBytes: 10 },
    ]);
    expect(lines).toEqual(["downloading a/b: config.json", "downloading a/b: tokenizer.json"]);
  });
});
