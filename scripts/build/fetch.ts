import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { run } from "./run.ts";

/**
 * What a build for another platform needs beside the installed packages. Everything is fetched by the registry's own client into
 * the cache of the project and compared with a checksum before it is used.
 */

/** A package of the npm registry. */
export type NpmPackage = {
  readonly name: string;
  readonly version: string;
  /** As in a lockfile: `sha512-` and base64. */
  readonly integrity: string;
};

const LIMIT_MS = 300_000;

/** The package as `bun.lock` has it. @throws Error when it is not there */
export function lockedPackage(root: string, name: string): NpmPackage {
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  const line = lock
    .split("\n")
    .find((text) => text.trimStart().startsWith(`"${name}": ["${name}@`));
  const version = line?.split(`"${name}@`)[1]?.split('"')[0];
  const integrity = /"(sha512-[^"]+)"\],?$/.exec(line ?? "")?.[1];
  if (version === undefined || integrity === undefined) throw new Error(`bun.lock has no ${name}`);
  return { name, version, integrity };
}

/** The folder of an unpacked package. @throws Error of one line that says why it cannot be had */
export async function provideNpmPackage(root: string, wanted: NpmPackage): Promise<string> {
  const { name, version, integrity } = wanted;
  const folder = join(root, "node_modules/.cache/packages", `${name}@${version}`);
  if (existsSync(folder)) return folder;
  const packed = await withTemporary(async (place) => {
    const pack = ["npm", "pack", "--silent", "--pack-destination", place, `${name}@${version}`];
    await must(pack, `${name} ${version}`, place);
    return readFileSync(join(place, onlyFile(place)));
  });
  const found = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
  if (found !== integrity)
    throw new Error(`${name} ${version} is not the package that was expected`);
  const draft = `${folder}.${process.pid}`;
  for (const [path, file] of await new Bun.Archive(packed).files()) {
    const to = join(draft, path.replace(/^[^/]+\//, ""));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, await file.bytes());
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return folder;
}

/** A wheel of the Python package `msvc-runtime`, which packs Microsoft's own files. */
const MSVC = {
  version: "14.44.35112",
  sha256: "aba7fbe71897d25ed53fbb7f391e9f50289378a8a9ae218ba18530c663448391",
};

/** What ONNX Runtime for Windows needs and a new Windows lacks. */
export const MSVC_FILES = [
  "msvcp140.dll",
  "msvcp140_1.dll",
  "msvcp140_atomic_wait.dll",
  "vcruntime140.dll",
  "vcruntime140_1.dll",
] as const;

/** A folder with {@link MSVC_FILES}. @throws Error of one line that says why they cannot be had */
export async function provideMsvcRuntime(root: string): Promise<string> {
  const folder = join(root, "node_modules/.cache/packages", `msvc-runtime-${MSVC.version}`);
  if (existsSync(folder)) return folder;
  const wheel = await withTemporary(async (place) => {
    const platform = ["--platform", "win_amd64", "--python-version", "311", "--only-binary=:all:"];
    const pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", ...platform];
    await must([...pip, "-d", place, `msvc-runtime==${MSVC.version}`], "msvc-runtime", place);
    return readFileSync(join(place, onlyFile(place)));
  });
  if (createHash("sha256").update(wheel).digest("hex") !== MSVC.sha256) {
    throw new Error(`msvc-runtime ${MSVC.version} is not the wheel that was expected`);
  }
  const files = Object.entries(unzipSync(wheel));
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const name of MSVC_FILES) {
    const content = files.find(([path]) => path.endsWith(`/Scripts/${name}`))?.[1];
    if (content === undefined) throw new Error(`msvc-runtime has no ${name}`);
    writeFileSync(join(draft, name), content);
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return folder;
}

async function withTemporary<Result>(work: (place: string) => Promise<Result>): Promise<Result> {
  const place = mkdtempSync(join(tmpdir(), "svc-fetch-"));
  try {
    return await work(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function onlyFile(folder: string): string {
  const [name, ...others] = readdirSync(folder);
  if (name === undefined || others.length > 0) throw new Error(`one file expected in ${folder}`);
  return name;
}

async function must(command: readonly string[], what: string, cwd: string): Promise<void> {
  const { exitCode, stderr } = await run(command, { cwd, limitMs: LIMIT_MS });
  if (exitCode === 0) return;
  const reason = stderr.trim().split("\n").at(-1) || "it took too long";
  throw new Error(`${what} cannot be fetched: ${reason}`);
}
