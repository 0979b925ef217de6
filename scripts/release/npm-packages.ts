import type { Target } from "../build/targets.ts";
import type { Product } from "../bundle/manifest.ts";
import type { ArchiveEntry } from "./archive.ts";

/** The package that people install; those of the platforms are called `<name>-<target>`. */
export const NPM_NAME = "svc-memory";

/** As npm names a platform. */
export function npmPlatform(target: Target): { readonly os: string; readonly cpu: string } {
  const [system = "", cpu = ""] = target.split("-");
  return { os: system === "windows" ? "win32" : system, cpu };
}

/** Starts the program of this platform's package in the place of node. */
const LAUNCHER = `#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");

const isWindows = process.platform === "win32";
const platform = (isWindows ? "windows" : process.platform) + "-" + process.arch;
const name = "${NPM_NAME}-" + platform;

function findProgram() {
  try {
    return require.resolve(name + "/bin/svc" + (isWindows ? ".exe" : ""));
  } catch {
    console.error(
      "${NPM_NAME}: the package " + name + " is not installed. Either there is none for " + platform +
        " (there are: PLATFORMS), or npm left it out: install without --omit=optional, on the machine that runs it.",
    );
    process.exit(1);
  }
}

const child = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error("${NPM_NAME}: the program does not start: " + error.message);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
`;

export type NpmInput = {
  readonly product: Product;
  readonly targets: readonly Target[];
  /** Name of the server in the registry of MCP, which looks for it in the package. */
  readonly serverName: string;
  /** README, LICENSE and NOTICE. */
  readonly papers: readonly ArchiveEntry[];
};

/** The files of the package that people install. */
export function mainPackage(input: NpmInput): readonly ArchiveEntry[] {
  const { product, targets, serverName, papers } = input;
  const names = targets.map((target) => [`${NPM_NAME}-${target}`, product.version]);
  const manifest = {
    ...common(product, NPM_NAME),
    keywords: ["memory", "mcp", "assistant", "encrypted", "local"],
    mcpName: serverName,
    bin: { [NPM_NAME]: "launch.cjs", svc: "launch.cjs" },
    files: ["launch.cjs", "NOTICE"],
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(names),
  };
  const launcher = LAUNCHER.replace("PLATFORMS", targets.join(", "));
  return inPackage([
    json("package.json", manifest),
    { name: "launch.cjs", bytes: Buffer.from(launcher), isExecutable: true },
    ...papers,
  ]);
}

/** The files of the package with the program of one platform. */
export function platformPackage(
  { product, papers }: NpmInput,
  target: Target,
  executable: Uint8Array,
): readonly ArchiveEntry[] {
  const { os, cpu } = npmPlatform(target);
  const program = os === "win32" ? "bin/svc.exe" : "bin/svc";
  const manifest = {
    ...common(product, `${NPM_NAME}-${target}`),
    description: `${product.description} The program for ${target}.`,
    files: [program, "NOTICE"],
    os: [os],
    cpu: [cpu],
    // npm offers to install the one for the C library of the machine.
    ...(os === "linux" ? { libc: ["glibc"] } : {}),
    preferUnplugged: true,
  };
  return inPackage([
    json("package.json", manifest),
    { name: program, bytes: executable, isExecutable: true },
    ...papers,
  ]);
}

function common({ version, description, license }: Product, name: string): object {
  return { name, version, description, license };
}

function json(name: string, value: object): ArchiveEntry {
  return { name, bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`) };
}

function inPackage(entries: readonly ArchiveEntry[]): readonly ArchiveEntry[] {
  return entries.map((entry) => ({ ...entry, name: `package/${entry.name}` }));
}
