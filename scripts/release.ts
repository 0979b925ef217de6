/**
 * Makes a release: `bun scripts/release.ts [--target linux-x64 ...] [--namespace io.github.name] [--release-url https://…/v0.1.0]`.
 * Writes into `dist/release`: npm packages, archives with `SHA256SUMS`, bundles for assistants with `server.json`, Debian packages,
 * a Homebrew formula, a folder to build a container from, and the list of parts (CycloneDX). docs/release.md says how each is
 * published.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseTarget, TARGETS } from "./build/targets.ts";
import { NAMESPACE, RELEASE_URL } from "./bundle/server-json.ts";
import { makeRelease } from "./release/release.ts";

const ROOT = join(import.meta.dir, "..");

try {
  const { values } = parseArgs({
    options: {
      target: { type: "string", multiple: true },
      folder: { type: "string", default: join(ROOT, "dist/release") },
      namespace: { type: "string", default: NAMESPACE },
      "release-url": { type: "string", default: RELEASE_URL },
      level: { type: "string", default: "9" },
    },
  });
  const { folder, namespace, "release-url": releaseUrl, level } = values;
  const targets = values.target?.map(parseTarget) ?? TARGETS;
  const input = { root: ROOT, folder, targets, namespace, releaseUrl, level: Number(level) };
  await makeRelease(input, (line) => console.log(line));
  if (namespace === NAMESPACE || releaseUrl === RELEASE_URL) {
    console.log(
      "Publisher or address is that of an example: give --namespace and --release-url before it is published.",
    );
  }
} catch (error) {
  console.error(error instanceof Error ? `release: ${error.message}` : error);
  process.exitCode = 1;
}
