import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findZig } from "../build/native/zig.ts";
import { run } from "../build/run.ts";
import { HOST, type Target } from "../build/targets.ts";

/** How the program of another platform is run on this machine. */
export type Emulator = {
  /** What comes before the arguments of the program. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether the program can start itself again, as `svc doctor` does to try out a server. */
  readonly startsItself: boolean;
};

const ARM_PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"] as const;
const ARM_PROCESSOR = "neoverse-n1";
/** ONNX Runtime reads there what the processor can do, and would find this machine's. */
const ARM_CPUINFO = `processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

`;
const LIMIT_MS = 300_000;

const WINE = "/usr/lib/wine/wine64";

/** Why programs of a target cannot be run here, in one line; undefined when they can. */
export async function whyNoEmulator(root: string, target: Target): Promise<string | undefined> {
  if (target === HOST) return undefined;
  if (HOST !== "linux-x64") return `programs of ${target} do not run on ${HOST}`;
  if (target === "linux-arm64") {
    const lacking = findQemu() === null ? "qemu-user-static" : undefined;
    return lacking && `qemu is not installed (apt-get install ${lacking})`;
  }
  if (target !== "windows-x64") return `nothing on this machine runs programs of ${target}`;
  if (findWine() === undefined) return "Wine is not installed (apt-get install wine64)";
  return (await findZig(root)) === undefined
    ? "the compiler of a library that Wine lacks is not there (bun scripts/build/native.ts --compare)"
    : undefined;
}

/**
 * How to run a program of a target here, where {@link whyNoEmulator} sees no hindrance. Fetches the libraries of the other
 * processor into the cache of the project.
 * @param place an empty folder, whose parts the program may use
 * @throws Error of one line when something cannot be had
 */
export async function emulate(
  root: string,
  target: Target,
  executable: string,
  place: string,
): Promise<Emulator> {
  if (target === "linux-arm64") return await onArm(root, executable);
  if (target === "windows-x64") return await onWine(root, executable, place);
  return { command: [executable], env: {}, startsItself: true };
}

function findQemu(): string | null {
  return Bun.which("qemu-aarch64-static") ?? Bun.which("qemu-aarch64");
}

function findWine(): string | undefined {
  return [WINE, Bun.which("wine64") ?? ""].find((path) => existsSync(path));
}

async function onArm(root: string, executable: string): Promise<Emulator> {
  const libraries = join(root, "node_modules/.cache/arm64-libraries");
  if (!existsSync(libraries)) await fetchArmLibraries(libraries);
  const command = [findQemu() ?? "", "-cpu", ARM_PROCESSOR, "-L", libraries, executable];
  return { command, env: {}, startsItself: false };
}

/** Debian's libraries for arm64, below a folder, without a word to the system's list of packages. */
async function fetchArmLibraries(folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "svc-arm64-"));
  try {
    for (const part of ["lists/partial", "cache/archives/partial", "root"]) {
      mkdirSync(join(place, part), { recursive: true });
    }
    const settings = [
      "APT::Architecture=arm64",
      "APT::Architectures=arm64",
      `Dir::State::Lists=${place}/lists`,
      `Dir::Cache=${place}/cache`,
      "Dir::State::Status=/dev/null",
      "APT::Sandbox::User=root",
    ].flatMap((setting) => ["-o", setting]);
    const options = { cwd: place, limitMs: LIMIT_MS };
    await run(["apt-get", ...settings, "update"], options);
    const fetched = await run(["apt-get", ...settings, "download", ...ARM_PACKAGES], options);
    const packages = readdirSync(place).filter((name) => name.endsWith(".deb"));
    if (packages.length < ARM_PACKAGES.length) {
      throw new Error(
        `the libraries of arm64 cannot be fetched: ${fetched.stderr.trim().split("\n").at(-1)}`,
      );
    }
    for (const name of packages) await run(["dpkg-deb", "-x", name, "root"], options);
    mkdirSync(join(place, "root/proc"));
    writeFileSync(join(place, "root/proc/cpuinfo"), ARM_CPUINFO);
    mkdirSync(dirname(folder), { recursive: true });
    await run(["cp", "-a", join(place, "root"), folder]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Wine 8 lacks a library that Bun asks for random numbers: one function, by way of another library. */
const RANDOM_SOURCE = `#include <stddef.h>
unsigned char __stdcall SystemFunction036(void *out, unsigned long size);
__declspec(dllexport) int ProcessPrng(unsigned char *out, size_t size) { return SystemFunction036(out, (unsigned long)size); }
`;

async function onWine(root: string, executable: string, place: string): Promise<Emulator> {
  const wine = findWine() ?? "";
  const zig = (await findZig(root)) ?? "";
  const folder = join(place, "program");
  const prefix = join(place, "prefix");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "svc.exe");
  linkOrCopy(executable, program);
  writeFileSync(join(place, "random.c"), RANDOM_SOURCE);
  const cache = join(root, "node_modules/.cache/ziglang/cache");
  const made = await run(
    // The flags of our own libraries: the compiler's C runtime is there for these.
    [
      zig,
      "cc",
      "-target",
      "x86_64-windows-gnu",
      "-shared",
      "-s",
      "-O2",
      join(place, "random.c"),
      "-ladvapi32",
    ].concat([
      `-Wl,--out-implib=${join(place, "unused.lib")}`,
      "-o",
      join(folder, "bcryptprimitives.dll"),
    ]),
    { env: { ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache } },
  );
  if (made.exitCode !== 0)
    throw new Error(`a library that Wine lacks does not compile: ${made.stderr.trim()}`);
  // Without a locale Wine reads arguments as ASCII. Its menus would be left in the home folder.
  const env = {
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    WINEDLLOVERRIDES: "winemenubuilder.exe=d",
    LC_ALL: "C.UTF-8",
  };
  await run([wine, "wineboot", "-i"], { env, limitMs: LIMIT_MS });
  const version = ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"];
  const set = await run([wine, ...version], { env, limitMs: LIMIT_MS });
  if (set.exitCode !== 0)
    throw new Error(`Wine does not start: ${set.stderr.trim().split("\n").at(-1)}`);
  return { command: [wine, program], env, startsItself: true };
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system.
    Bun.spawnSync(["cp", from, to]);
  }
}
