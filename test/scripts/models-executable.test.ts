import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { svcCommand } from "../../scripts/bench/server.ts";
import { startProvider } from "../adapters/language-model/provider-server.ts";
import { relevanceOf, writeTinyModel } from "../adapters/rerank/tiny-model.ts";

test("the program runs a reranker in its worker and asks a language model, with no package in reach", async () => {
  const place = mkdtempSync(join(tmpdir(), "svc-models-"));
  const provider = startProvider("openai", [() => '{"queries":["beverage"]}']);
  const home = join(place, "home");
  mkdirSync(home);
  const env = {
    ...{ HOME: home, PATH: "", TMPDIR: home, SVC_KEY_STORE: "file", SVC_ENABLE_RERANKER: "true" },
    SVC_RERANKER_MODEL: writeTinyModel("relevance", join(place, "model")),
    ...{ SVC_ENABLE_QUERY_REFORMULATION: "true", SVC_EXTRACTION__PROVIDER: "ollama" },
    ...{ SVC_EXTRACTION__MODEL: "m", SVC_EXTRACTION__BASE_URL: provider.url },
  };
  const run = async (...args: readonly string[]): Promise<string> => {
    const command = [...svcCommand(), ...args];
    const child = Bun.spawn(command, { cwd: home, env, stdout: "pipe", stderr: "pipe" });
    const [said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited).toBe(0);
    return said;
  };
  try {
    await run("init", "a.pack", "--plain");
    await run("store", "a.pack", "ann likes tea");
    const asked = JSON.parse(await run("search", "a.pack", "ann tea", "--format", "json"));
    expect(asked.count).toBe(1);
    const path = ["--db-path", "a.pack", "--format", "json"];
    const explained = JSON.parse(await run("explain", asked.metrics.request_id, ...path));
    const reasons = explained.in_context[0].reasons.map(({ text }: { text: string }) => text);
    const score = Math.round(relevanceOf(2) * 1e4) / 1e4;
    expect(reasons).toContainEqual(
      expect.stringContaining(`the reranker gave ${score}, and the former score counts 0.3`),
    );
    expect(provider.received).toHaveLength(1);
    // Native libraries are unpacked into our own cache, and nothing reports home.
    const ours = [".bun", ".cache", ".config", "a.pack"];
    expect(readdirSync(home).filter((name) => !ours.includes(name))).toEqual([]);
    expect(readdirSync(join(home, ".cache"))).toEqual(["svc"]);
  } finally {
    provider.stop();
    rmSync(place, { recursive: true, force: true });
  }
}, 120_000);
