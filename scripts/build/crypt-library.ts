/**
 * Compiles the encryption library for this machine: `bun scripts/build/crypt-library.ts [--sanitize]`.
 * Prints its path. Nothing is done when the library of this very source is there already.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import {
  type CryptVariant,
  compiledCryptLibrary,
} from "../../src/adapters/native/crypt-library.ts";

const PACKAGES = ["gcc", "libc6-dev", "libssl-dev", "libsqlite3-dev"];

/** What to type on systems where it is not installed by this script. The first entry is for Debian and its relatives. */
const INSTALL_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/debian|ubuntu/, `apt-get install -y ${PACKAGES.join(" ")}`],
  [/fedora|rhel|centos/, "dnf install -y gcc openssl-devel openssl-static sqlite-devel"],
  [/alpine/, "apk add gcc musl-dev openssl-dev openssl-libs-static sqlite-dev"],
  [/suse/, "zypper install -y gcc libopenssl-devel sqlite3-devel"],
];

const OPTIMIZED = ["-O2", "-Wl,--gc-sections", "-Wl,-s", "-Wl,-z,defs", "-Wl,-z,relro,-z,now"];
const SANITIZED = [
  "-O1",
  "-g",
  "-fno-omit-frame-pointer",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
];

/**
 * The path of the library, compiled when this source has none yet. Several processes may call it at once.
 * @throws Error of one line that names the command which installs what is missing; otherwise with the compiler's words.
 */
export async function cryptLibrary(root: string, variant: CryptVariant): Promise<string> {
  const path = compiledCryptLibrary(root, variant);
  if (existsSync(path)) return path;
  await provideTools();
  const folder = join(root, "src/adapters/crypt/native");
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  try {
    await compile(
      folder,
      [...(variant === "release" ? OPTIMIZED : SANITIZED), "-shared"],
      temporary,
    );
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return path;
}

/** Compiles the C program of a test together with the library's source, under the sanitizers, against the system's SQLite. */
export async function compileDriver(
  root: string,
  source: string,
  out: string,
  flags: readonly string[] = [],
): Promise<void> {
  await provideTools();
  const folder = join(root, "src/adapters/crypt/native");
  await compile(folder, [...SANITIZED, ...flags, source, `-I${folder}`], out, [
    "-lsqlite3",
    "-ldl",
  ]);
}

async function compile(
  folder: string,
  flags: readonly string[],
  out: string,
  libraries: readonly string[] = [],
): Promise<void> {
  const common = readFileSync(join(folder, "compile_flags.txt"), "utf8").trim().split("\n");
  const sources = [...new Bun.Glob("*.c").scanSync({ cwd: folder })].sort();
  const command = [
    "cc",
    ...common,
    ...flags,
    ...sources.map((name) => join(folder, name)),
    // No symbol of OpenSSL may be seen from outside, or it could answer another library's call.
    "-Wl,--exclude-libs,ALL",
    "-Wl,--build-id=none",
    "-l:libcrypto.a",
    ...libraries,
    "-o",
    out,
  ];
  const { exitCode, stderr } = await run(command);
  if (exitCode !== 0) throw new Error(`the encryption library does not compile:\n${stderr}`);
}

/** Installs compiler and headers when it may. @throws Error naming the command that does */
export async function provideTools(): Promise<void> {
  if (await hasTools()) return;
  const command = installCommand();
  if (command.startsWith("apt-get") && process.getuid?.() === 0 && Bun.which("apt-get") !== null) {
    console.error(`the encryption library needs a C compiler and headers; running: ${command}`);
    if ((await run(command.split(" "))).exitCode !== 0) {
      await run(["apt-get", "update"]);
      await run(command.split(" "));
    }
    if (await hasTools()) return;
  }
  throw new Error(
    `the encryption library needs a C compiler, OpenSSL's static libcrypto and SQLite's headers; run: ${process.getuid?.() === 0 ? "" : "sudo "}${command}`,
  );
}

async function hasTools(): Promise<boolean> {
  if (Bun.which("cc") === null) return false;
  const headers = ["openssl/modes.h", "sqlite3ext.h", "stdint.h"].flatMap((name) => [
    "-include",
    name,
  ]);
  const preprocessed = await run([
    "cc",
    "-E",
    ...headers,
    "-x",
    "c",
    "/dev/null",
    "-o",
    "/dev/null",
  ]);
  if (preprocessed.exitCode !== 0) return false;
  // The bare name comes back when the compiler does not know the file.
  const library = (await run(["cc", "-print-file-name=libcrypto.a"])).stdout.trim();
  return library !== "libcrypto.a" && existsSync(library);
}

function installCommand(): string {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  const names = (release.match(/^ID(?:_LIKE)?=.*$/gm) ?? []).join(" ").toLowerCase();
  const known = INSTALL_COMMANDS.find(([pattern]) => pattern.test(names));
  return known?.[1] ?? `the package manager for: ${PACKAGES.join(" ")} (names of Debian)`;
}

/** Runs a command in the C locale and waits for its end. */
export async function run(
  command: readonly string[],
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

if (import.meta.main) {
  try {
    const { values } = parseArgs({ options: { sanitize: { type: "boolean", default: false } } });
    const variant = values.sanitize ? "sanitize" : "release";
    const path = await cryptLibrary(join(import.meta.dir, "../.."), variant);
    console.log(`${path} (${Math.round(statSync(path).size / 1000)} kB)`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
