import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MSVC_FILES, type NpmPackage, provideMsvcRuntime, provideNpmPackage } from "./fetch.ts";
import { KEPT, PREBUILT } from "./native/libraries.ts";
import { sha256Of } from "./native/record.ts";

/** The platforms for which the executable can be built. */
export const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "windows-x64"] as const;
export type Target = (typeof TARGETS)[number];

/** This machine, as a target is named; it may be none. */
export const HOST = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** The name of what is built for a target in `dist`, with the ending that the system wants. */
export function executableName(target: Target, isHost: boolean): string {
  const name = isHost ? "svc" : `svc-${target}`;
  return target.startsWith("windows") ? `${name}.exe` : name;
}

/** One native file of a target: where the build finds it and where the executable unpacks it. */
export type NativeFile = {
  readonly key: string;
  readonly source: string;
  readonly group: string;
  readonly name: string;
};

type Row = {
  readonly ort: readonly string[];
  /** Folder of ONNX Runtime's package. */
  readonly ortFolder: string;
  /** Bun itself, in the version that builds. */
  readonly runtime: Omit<NpmPackage, "version">;
};

const ROWS: Readonly<Record<Target, Row>> = {
  "linux-x64": {
    ort: ["libonnxruntime.so.1"],
    ortFolder: "linux/x64",
    runtime: {
      name: "@oven/bun-linux-x64",
      integrity:
        "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
    },
  },
  "linux-arm64": {
    ort: ["libonnxruntime.so.1"],
    ortFolder: "linux/arm64",
    runtime: {
      name: "@oven/bun-linux-aarch64",
      integrity:
        "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
    },
  },
  "darwin-arm64": {
    ort: ["libonnxruntime.1.dylib"],
    ortFolder: "darwin/arm64",
    runtime: {
      name: "@oven/bun-darwin-aarch64",
      integrity:
        "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
    },
  },
  "windows-x64": {
    ort: ["onnxruntime.dll"],
    ortFolder: "win32/x64",
    runtime: {
      name: "@oven/bun-windows-x64",
      integrity:
        "sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
    },
  },
};

/** The version of Bun that the checksums above are of. */
const BUN_VERSION = "1.4.5";

/**
 * Bun for a target, as the registry has it: the same file on every machine that builds.
 * @throws Error of one line that says why it cannot be had
 */
export async function provideRuntime(root: string, target: Target): Promise<string> {
  if (Bun.version !== BUN_VERSION) {
    throw new Error(
      `this is Bun ${Bun.version}; an executable for another platform needs ${BUN_VERSION}`,
    );
  }
  const folder = await provideNpmPackage(root, { ...ROWS[target].runtime, version: BUN_VERSION });
  return join(folder, "bin", target.startsWith("windows") ? "bun.exe" : "bun");
}

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
 * The native files of a target. Those of another platform are fetched.
 * @throws Error of one line, naming the missing package and what helps
 */
export async function nativeFiles(root: string, target: Target): Promise<readonly NativeFile[]> {
  const modules = join(root, "node_modules");
  const ortVersion = await packageVersion(modules, "onnxruntime-node");
  const { ort, ortFolder } = ROWS[target];
  const group = `onnxruntime-${ortVersion}`;
  const files = [
    ...ownFiles(root, target),
    ...ort.map((name) => ({
      key: `onnxruntime/${name}`,
      source: join(modules, "onnxruntime-node/bin/napi-v6", ortFolder, name),
      group,
      name,
    })),
    ...(await runtimeFiles(root, target, group)),
  ];
  for (const { source } of files) {
    if (!existsSync(source)) {
      throw new Error(`${source} is missing; run: bun install --frozen-lockfile`);
    }
  }
  return files;
}

/** Microsoft's C++ libraries, beside the library that asks for them. */
async function runtimeFiles(
  root: string,
  target: Target,
  group: string,
): Promise<readonly NativeFile[]> {
  if (target !== "windows-x64") return [];
  const folder = await provideMsvcRuntime(root);
  return MSVC_FILES.map((name) => ({
    key: `onnxruntime/${name}`,
    source: join(folder, name),
    group,
    name,
  }));
}

/**
 * The libraries of our own for a target. There is no build without them: a program that could not encrypt would write
 * unencrypted, or refuse the packs of its own users.
 */
function ownFiles(root: string, target: Target): readonly NativeFile[] {
  const kept = KEPT.filter(({ target: { name } }) => name === target);
  return kept.map(({ library, path, target: { suffix } }) => {
    const source = join(root, PREBUILT, path);
    const group = `${library}-${sha256Of(readFileSync(source)).slice(0, 16)}`;
    return { key: library, source, group, name: `${library}.${suffix}` };
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
