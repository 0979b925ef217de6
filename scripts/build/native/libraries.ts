import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run, ZIG_VERSION } from "./zig.ts";

/** A platform for which the libraries are kept. */
export type NativeTarget = {
  /** As in the names of executables. */
  readonly name: string;
  /** The compiler's name of the platform, with the oldest glibc that may load the library. */
  readonly triple: string;
  /** Folder below `vendor/openssl/asm`. */
  readonly assembly: string;
};

/** A row here and a rebuild add a platform. */
const TARGETS: readonly NativeTarget[] = [
  { name: "linux-x64", triple: "x86_64-linux-gnu.2.27", assembly: "elf-x86_64" },
];

type Source = {
  /** Folder of the C files, below the root. */
  readonly folder: string;
  /** Folders of foreign source that it is made from. */
  readonly vendor: readonly string[];
  readonly flags: readonly string[];
  readonly hasAssembly: boolean;
};

const SOURCES: Readonly<Record<"svccrypt" | "svckernel", Source>> = {
  svccrypt: {
    folder: "src/adapters/crypt/native",
    vendor: ["vendor/openssl", "vendor/sqlite"],
    flags: ["-O2"],
    hasAssembly: true,
  },
  svckernel: {
    folder: "src/adapters/native/kernel",
    vendor: ["vendor/sqlite"],
    // The same sums on every processor: no multiplication is joined with an addition.
    flags: ["-O3", "-ffp-contract=off", "-lm"],
    hasAssembly: false,
  },
};

const COMMON = [
  // Assembly has no use for the flags of C.
  "-Wno-unused-command-line-argument",
  "-shared",
  "-s",
  "-Wl,--gc-sections",
  "-Wl,-z,defs",
  "-Wl,-z,relro,-z,now",
  "-Wl,--build-id=none",
  "-Wl,--version-script=exports.map",
];

/** A library of our own for one platform. */
export type Kept = {
  readonly library: keyof typeof SOURCES;
  readonly target: NativeTarget;
  /** Below {@link PREBUILT}. */
  readonly path: string;
};

/** Folder of the kept libraries, below the root. */
export const PREBUILT = "src/adapters/native/prebuilt";

export const KEPT: readonly Kept[] = TARGETS.flatMap((target) =>
  (["svccrypt", "svckernel"] as const).map((library) => ({
    library,
    target,
    path: `${target.name}/${library}.so`,
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

/**
 * Compiles a library.
 * @param cache folder for the compiler's own parts, which are made once
 * @param scratch folder for what it keeps of our source; empty when everything is to be compiled
 * @throws Error with the compiler's words
 */
export async function compile(
  root: string,
  {
    zig,
    cache,
    scratch,
  }: { readonly zig: string; readonly cache: string; readonly scratch: string },
  kept: Kept,
  out: string,
): Promise<void> {
  const { cwd, inputs, flags } = sourceOf(root, kept);
  const { exitCode, stderr } = await run([zig, ...command(kept), ...flags, ...inputs, "-o", out], {
    cwd,
    env: { ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: scratch },
  });
  if (exitCode !== 0) throw new Error(`${kept.path} does not compile:\n${stderr}`);
}

function command({ library, target }: Kept): readonly string[] {
  return ["cc", "-target", target.triple, ...COMMON, ...SOURCES[library].flags];
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
