import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.ts";
import { provideAmalgamation } from "./amalgamation.ts";
import { ZIG_VERSION } from "./zig.ts";

/** A platform for which the libraries are kept. */
export type NativeTarget = {
  /** As in the names of executables. */
  readonly name: string;
  /** The compiler's name of the platform, with the oldest system that may load the library. */
  readonly triple: string;
  /** Folder below `vendor/openssl/asm`. */
  readonly assembly: string;
  /** Ending of a library's file name, without a point. */
  readonly suffix: "so" | "dylib" | "dll";
  readonly flags: readonly string[];
  readonly libraries: readonly (keyof typeof SOURCES)[];
};

const ELF = [
  "-fPIC",
  "-Wl,--gc-sections",
  "-Wl,-z,defs",
  "-Wl,-z,relro,-z,now",
  "-Wl,--build-id=none",
] as const;

const OWN = ["svccrypt", "svckernel"] as const;

/** A row here and a rebuild add a platform. */
const TARGETS: readonly NativeTarget[] = [
  {
    name: "linux-x64",
    triple: "x86_64-linux-gnu.2.27",
    assembly: "elf-x86_64",
    suffix: "so",
    flags: ELF,
    libraries: OWN,
  },
  {
    name: "linux-arm64",
    triple: "aarch64-linux-gnu.2.27",
    assembly: "elf-arm64",
    suffix: "so",
    flags: ELF,
    libraries: OWN,
  },
  {
    name: "darwin-arm64",
    triple: "aarch64-macos.13.0",
    assembly: "macho-arm64",
    suffix: "dylib",
    flags: ["-fPIC", "-Wl,-dead_strip"],
    // The Bun of this platform has no SQLite inside.
    libraries: [...OWN, "svcsqlite"],
  },
  {
    name: "windows-x64",
    triple: "x86_64-windows-gnu",
    assembly: "coff-x86_64",
    suffix: "dll",
    flags: ["-Wl,--gc-sections"],
    libraries: OWN,
  },
];

type Source = {
  /** Folder of the C files, below the root. */
  readonly folder: string;
  /** Folders of foreign source that it is made from. */
  readonly vendor: readonly string[];
  readonly flags: readonly string[];
  readonly hasAssembly: boolean;
  /** On Windows: libraries of the system. */
  readonly windows: readonly string[];
};

const SOURCES: Readonly<Record<"svccrypt" | "svckernel" | "svcsqlite", Source>> = {
  svccrypt: {
    folder: "src/adapters/crypt/native",
    vendor: ["vendor/openssl", "vendor/sqlite"],
    flags: ["-O2"],
    hasAssembly: true,
    windows: ["-lbcrypt"],
  },
  svckernel: {
    folder: "src/adapters/native/kernel",
    vendor: ["vendor/sqlite"],
    // The same sums on every processor: no multiplication is joined with an addition.
    flags: ["-O3", "-ffp-contract=off", "-lm"],
    hasAssembly: false,
    windows: [],
  },
  svcsqlite: {
    folder: "src/adapters/native/sqlite",
    vendor: ["vendor/sqlite"],
    flags: ["-O2"],
    hasAssembly: false,
    windows: [],
  },
};

const COMMON = [
  // Assembly has no use for the flags of C.
  "-Wno-unused-command-line-argument",
  "-shared",
  "-s",
];

/** A library of our own for one platform. */
export type Kept = {
  readonly library: keyof typeof SOURCES;
  readonly target: NativeTarget;
  /** Below {@link PREBUILT}. */
  readonly path: string;
};

/**
 * Whether a library takes minutes where the compiler is new: its C runtime for Windows has to be made first, or the library is
 * SQLite as a whole. What others were made from is compared by digest everywhere.
 */
export function isHeavy({ library, target }: Kept): boolean {
  return library === "svcsqlite" || target.suffix === "dll";
}

/** Folder of the kept libraries, below the root. */
export const PREBUILT = "src/adapters/native/prebuilt";

export const KEPT: readonly Kept[] = TARGETS.flatMap((target) =>
  target.libraries.map((library) => ({
    library,
    target,
    path: `${target.name}/${library}.${target.suffix}`,
  })),
);

/** The C files of a library and the flags to compile them with, relative to the folder, in which the compiler has to run. */
export function sourceOf(
  root: string,
  { library, target }: Pick<Kept, "library" | "target">,
): { readonly cwd: string; readonly inputs: readonly string[]; readonly flags: readonly string[] } {
  const { folder, hasAssembly } = SOURCES[library];
  const cwd = join(root, folder);
  const c = readdirSync(cwd).filter((name) => name.endsWith(".c"));
  const below = `../../../../vendor/openssl/asm/${target.assembly}`;
  const assembly = hasAssembly
    ? readdirSync(join(cwd, below)).map((name) => `${below}/${name}`)
    : [];
  const flags = readFileSync(join(cwd, "compile_flags.txt"), "utf8").trim().split("\n");
  return { cwd, inputs: [...c.sort(), ...assembly.sort()], flags };
}

export type CompileTools = {
  readonly zig: string;
  /** Folder for the compiler's own parts, which are made once. */
  readonly cache: string;
  /** Folder for what it keeps of our source; empty when everything is to be compiled. */
  readonly scratch: string;
};

/** Compiles a library. @throws Error with the compiler's words */
export async function compile(
  root: string,
  { zig, cache, scratch }: CompileTools,
  kept: Kept,
  out: string,
): Promise<void> {
  const { cwd, inputs, flags } = sourceOf(root, kept);
  const foreign = kept.library === "svcsqlite" ? ["-isystem", await provideAmalgamation(root)] : [];
  // Otherwise one for programs that link the library is left beside it.
  const unused =
    kept.target.suffix === "dll" ? [`-Wl,--out-implib=${join(scratch, "unused.lib")}`] : [];
  const all = [...flags, ...foreign, ...inputs, ...unused, "-o", out];
  const { exitCode, stderr } = await run([zig, ...command(kept), ...all], {
    cwd,
    env: { ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: scratch },
  });
  if (exitCode !== 0) throw new Error(`${kept.path} does not compile:\n${stderr}`);
}

function command({ library, target }: Kept): readonly string[] {
  const exports = target.suffix === "so" ? ["-Wl,--version-script=exports.map"] : [];
  const system = target.suffix === "dll" ? SOURCES[library].windows : [];
  const { flags } = SOURCES[library];
  const name =
    target.suffix === "dylib" ? [`-Wl,-install_name,@rpath/${library}.${target.suffix}`] : [];
  return [
    "cc",
    "-target",
    target.triple,
    ...COMMON,
    ...target.flags,
    ...exports,
    ...name,
    ...flags,
    ...system,
  ];
}

/** 64 hex digits over all that a library is made from: compiler, flags, our source and foreign source. */
export function sourceHash(root: string, kept: Kept): string {
  const { folder, vendor } = SOURCES[kept.library];
  const hash = createHash("sha256").update(`zig ${ZIG_VERSION} ${command(kept).join(" ")}\n`);
  for (const path of [folder, ...vendor].flatMap((below) => filesBelow(root, below))) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

function filesBelow(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => /\.(c|h|s|S|txt|map)$/.test(path) && !path.endsWith("LICENSE.txt"))
    .sort();
}
