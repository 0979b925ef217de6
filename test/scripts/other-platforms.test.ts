import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../../scripts/build/executable.ts";
import { readMacho } from "../../scripts/build/native/macho.ts";
import {
  executableName,
  HOST,
  parseTarget,
  provideRuntime,
  type Target,
} from "../../scripts/build/targets.ts";
import { emulate, whyNoEmulator } from "../../scripts/release/emulators.ts";
import { tryOut } from "../../scripts/release/try-out.ts";
import { refuseBuildPaths } from "../../scripts/smoke.ts";
import { leftOut } from "../left-out.ts";

const ROOT = join(import.meta.dir, "../..");
const LIMIT_MS = 600_000;
/** Building, packing and emulating takes minutes, for which a check of each change has no room. */
const ROOMLESS = process.env["RELEASE_TESTS"] === undefined ? "set RELEASE_TESTS=true" : undefined;
const ON_ARM = ROOMLESS ?? (await whyNoEmulator(ROOT, "linux-arm64"));
const ON_WINDOWS = ROOMLESS ?? (await whyNoEmulator(ROOT, "windows-x64"));

const place = mkdtempSync(join(tmpdir(), "svc-platforms-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

async function build(target: Target, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, executableName(target, false));
  const runtime = await provideRuntime(ROOT, target);
  await buildExecutable({ root: ROOT, main: join(ROOT, "src/main.ts"), target, outfile, runtime });
  return outfile;
}

/** The smoke test, packs of earlier versions, and packs that go from one platform to the other. */
async function tryOn(target: Target): Promise<void> {
  const folder = join(place, target);
  const executable = await build(target, folder);
  const emulated = join(folder, "emulated");
  mkdirSync(emulated);
  const there = await emulate(ROOT, target, executable, emulated);
  const here = { command: [await build(parseTarget(HOST), place)] };
  await tryOut(ROOT, { here, there }, join(folder, "packs"));
}

test.skipIf(ON_ARM !== undefined)(
  `linux-arm64 works under qemu and exchanges packs with this platform${leftOut(ON_ARM)}`,
  async () => await tryOn("linux-arm64"),
  LIMIT_MS,
);

test.skipIf(ON_WINDOWS !== undefined)(
  `windows-x64 works under Wine and exchanges packs with this platform${leftOut(ON_WINDOWS)}`,
  async () => await tryOn("windows-x64"),
  LIMIT_MS,
);

test.skipIf(ROOMLESS !== undefined)(
  `macOS accepts every page of the program, which names no folder of the build${leftOut(ROOMLESS)}`,
  async () => {
    const executable = await build("darwin-arm64", place);
    refuseBuildPaths(executable, ROOT);
    const { processor, signature } = readMacho(readFileSync(executable));
    expect(processor).toBe("arm64");
    expect(signature).toMatchObject({ isAdHoc: true, wrong: 0 });
    expect(signature?.pages).toBeGreaterThan(40_000);
  },
  LIMIT_MS,
);

test.skipIf(ROOMLESS !== undefined)(
  `two builds in two folders give the same program${leftOut(ROOMLESS)}`,
  async () => {
    const one = await build("linux-arm64", join(place, "a"));
    const other = await build("linux-arm64", join(place, "b"));
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
  },
  LIMIT_MS,
);
