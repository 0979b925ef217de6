import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../../scripts/build/executable.ts";
import { parseTarget } from "../../scripts/build/targets.ts";
import { startProvider } from "../adapters/language-model/provider-server.ts";
import { relevanceOf, writeTinyModel } from "../adapters/rerank/tiny-model.ts";

const ROOT = join(import.meta.dir, "../..");
const LIMIT_MS = 120_000;

test(
  "a compiled program runs a reranker in its worker and asks a language model, with no package in reach",
  async () => {
    const place = mkdtempSync(join(tmpdir(), "svc-models-"));
    const provider = startProvider("openai", [() => '{"word":"pelican"}']);
    try {
      const executable = join(place, "program");
      const home = join(place, "home");
      mkdirSync(home);
      await buildExecutable({
        root: ROOT,
        main: join(import.meta.dir, "models-program.ts"),
        target: parseTarget(`${process.platform}-${process.arch}`),
        outfile: executable,
      });
      const folder = writeTinyModel("relevance", join(place, "model"));
      const child = Bun.spawn([executable, folder, provider.url], {
        cwd: home,
        env: { HOME: home, PATH: "", TMPDIR: home },
        stdout: "pipe",
        stderr: "pipe",
      });
      const printed = (await child.stdout.text()) + (await child.stderr.text());
      const { scores, ...rest } = JSON.parse(printed);
      expect(scores[0]).toBeCloseTo(relevanceOf(2), 6);
      expect(scores[1]).toBeCloseTo(relevanceOf(0), 6);
      expect(rest).toEqual({ answer: { word: "pelican" }, bunfs: true });
      // The native library is unpacked into our own cache, and nothing reports home.
      expect(readdirSync(home)).toEqual([".cache"]);
      expect(readdirSync(join(home, ".cache"))).toEqual(["svc"]);
    } finally {
      provider.stop();
      rmSync(place, { recursive: true, force: true });
    }
  },
  LIMIT_MS,
);
