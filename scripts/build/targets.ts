import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KEPT, PREBUILT } from "./native/libraries.ts";
import { sha256Of } from "./native/record.ts";

/** The platforms for which the executable can be built. */
export const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64"] as const;
export type Target = (typeof TARGETS)[number];

/** One native file of a target: where the build finds it and where the executable unpacks it. */
export type NativeFile = {
  readonly key: string;
  readonly source: string;
  readonly group: string;
  readonly name: string;
};

const LIBRARIES: Readonly<
  Record<Target, { readonly vec: string; readonly ort: readonly string[] }>
> = {
  "linux-x64": { vec: "vec0.so", ort: ["onnxruntime_binding.node", "libonnxruntime.so.1"] },
  "linux-arm64": { vec: "vec0.so", ort: ["onnxruntime_binding.node", "libonnxruntime.so.1"] },
  "darwin-arm64": {
    vec: "vec0.dylib",
    ort: ["onnxruntime_binding.node", "libonnxruntime.1.dylib"],
  },
};

/** Reads `--target`: `linux-x64` or `bun-linux-x64`. @throws Error that names the possible ones. */
export function parseTarget(text: string): Target {
  const bare = text.replace(/^bun-/, "");
  const target = TARGETS.find((known) => known === bare);
  if (target === undefined) {
    throw new Error(`cannot build for ${bare}: choose one of ${TARGETS.join(", ")}`);
  }
  return target;
}

/**
 * The native files of a target.
 * @throws Error of one line, naming the missing package and the command that installs it.
 */
export async function nativeFiles(root: string, target: Target): Promise<readonly NativeFile[]> {
  const modules = join(root, "node_modules");
  const [system = "", arch = ""] = target.split("-");
  const vecPackage = `sqlite-vec-${target}`;
  const vecVersion = await packageVersion(modules, "sqlite-vec");
  const ortVersion = await packageVersion(modules, "onnxruntime-node");
  const { vec, ort } = LIBRARIES[target];
  const files = [
    ...ownFiles(root, target),
    {
      key: "sqlite-vec",
      source: join(modules, vecPackage, vec),
      group: `sqlite-vec-${vecVersion}`,
      name: vec,
    },
    ...ort.map((name) => ({
      key: `onnxruntime/${name}`,
      source: join(modules, "onnxruntime-node/bin/napi-v6", system, arch, name),
      group: `onnxruntime-${ortVersion}`,
      name,
    })),
  ];
  for (const { key, source } of files) {
    if (existsSync(source)) continue;
    const name = key === "sqlite-vec" ? vecPackage : "onnxruntime-node";
    throw new Error(
      `${name} is not installed for ${target}; run: bun install --frozen-lockfile --os='*' --cpu='*'`,
    );
  }
  return files;
}

/**
 * The libraries of our own for a target. There is no build without them: a program that could not encrypt would write
 * unencrypted, or refuse the packs of its own users.
 */
function ownFiles(root: string, target: Target): readonly NativeFile[] {
  const kept = KEPT.filter(({ target: { name } }) => name === target);
  if (kept.length === 0) throw new Error(`there are no native libraries for ${target} yet`);
  return kept.map(({ library, path }) => {
    const source = join(root, PREBUILT, path);
    const group = `${library}-${sha256Of(readFileSync(source)).slice(0, 16)}`;
    return { key: library, source, group, name: `${library}.so` };
  });
}

async function packageVersion(modules: string, name: string): Promise<string> {
  const path = join(modules, name, "package.json");
  if (!existsSync(path)) {
    throw new Error(`${name} is not installed; run: bun install --frozen-lockfile`);
  }
  const manifest: { readonly version: string } = await Bun.file(path).json();
  return manifest.version;
}
