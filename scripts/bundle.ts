/**
 * Packs what was built for assistants and for the MCP registry:
 * `bun scripts/bundle.ts [--namespace io.github.name] [--release-url https://…/v0.1.0]`.
 * Writes `dist/svc-<platform>.mcpb` for `dist/svc` and for each `dist/svc-<platform>`, and `dist/server.json`, which names them all.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executableName, HOST, TARGETS } from "./build/targets.ts";
import { type Bundle, productOf, writeBundle } from "./bundle/bundle.ts";
import { NAMESPACE, RELEASE_URL, serverJson } from "./bundle/server-json.ts";

const ROOT = join(import.meta.dir, "..");

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      namespace: { type: "string", default: NAMESPACE },
      "release-url": { type: "string", default: RELEASE_URL },
      folder: { type: "string", default: join(ROOT, "dist") },
    },
  });
  const { namespace, "release-url": releaseUrl, folder } = values;
  const bundles: Bundle[] = [];
  for (const target of TARGETS) {
    const executable = [false, target === HOST]
      .map((isHost) => join(folder, executableName(target, isHost)))
      .find(existsSync);
    if (executable === undefined) continue;
    const bundle = await writeBundle({ root: ROOT, target, executable, folder });
    console.log(`packed ${bundle.path}, ${(bundle.bytes / 1e6).toFixed(0)} MB`);
    bundles.push(bundle);
  }
  if (bundles.length === 0) {
    throw new Error(`nothing was built in ${folder}; run: bun scripts/build.ts`);
  }
  const server = serverJson(await productOf(ROOT), { namespace, releaseUrl, bundles });
  writeFileSync(join(folder, "server.json"), `${JSON.stringify(server, null, 2)}\n`);
  console.log(`wrote ${join(folder, "server.json")} for ${server.name}`);
  if (namespace === NAMESPACE || releaseUrl === RELEASE_URL) {
    console.log(
      "Its publisher or address is that of an example: give --namespace and --release-url before it is published.",
    );
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? `bundle: ${error.message}` : error);
  process.exitCode = 1;
}
