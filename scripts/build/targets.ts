import { existsSync } from "node:fs";
import { join } from "node:path";
import { CRYPT_ASSET, cryptSourceHash } from "../../src/adapters/native/crypt-library.ts";
import { KERNEL_ASSET, kernelSourceHash } from "../../src/adapters/native/kernel-library.ts";
import { cryptLibrary } from "./crypt-library.ts";
import { kernelLibrary } from "./kernel-library.ts";

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
    {
      key: CRYPT_ASSET,
      source: await cryptLibraryFor(root, target),
      group: `svccrypt-${cryptSourceHash(root)}`,
      name: "svccrypt.so",
    },
    {
      key: KERNEL_ASSET,
      source: await kernelLibraryFor(root, target),
      group: `svckernel-${kernelSourceHash(root)}`,
      name: "svckernel.so",
    },
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
 * Compiled here for this platform; for another one, a library that was compiled there. There is no build without it: a
 * program that could not encrypt would write in clear, or refuse the packs of its own users.
 */
async function cryptLibraryFor(root: string, target: Target): Promise<string> {
  if (target === `${process.platform}-${process.arch}`) return await cryptLibrary(root, "release");
  const path = join(root, "dist/native", target, "svccrypt.so");
  if (existsSync(path)) return path;
  throw new Error(
    `no encryption library for ${target}; run there: bun scripts/build/crypt-library.ts, and copy what it prints to dist/native/${target}/svccrypt.so`,
  );
}

/** As the encryption library. Searches would work without it, at a speed that nobody asked for. */
async function kernelLibraryFor(root: string, target: Target): Promise<string> {
  if (target === `${process.platform}-${process.arch}`) return await kernelLibrary(root);
  const path = join(root, "dist/native", target, "svckernel.so");
  if (existsSync(path)) return path;
  throw new Error(
    `no search library for ${target}; run there: bun scripts/build/kernel-library.ts, and copy what it prints to dist/native/${target}/svckernel.so`,
  );
}

async function packageVersion(modules: string, name: string): Promise<string> {
  const path = join(modules, name, "package.json");
  if (!existsSync(path)) {
    throw new Error(`${name} is not installed; run: bun install --frozen-lockfile`);
  }
  const manifest: { readonly version: string } = await Bun.file(path).json();
  return manifest.version;
}
