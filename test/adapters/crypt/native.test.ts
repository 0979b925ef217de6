import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileDriver, whyNoSanitizers } from "../native/sanitized.ts";
import { openImage } from "./pack-reader.ts";
import { useFolders } from "./packs.ts";

const DRIVER = join(import.meta.dir, "native/vfs-driver.c");
const LIMIT_MS = 300_000;

const SYSTEM = ["-lsqlite3", "-ldl"];
const lacking = whyNoSanitizers(SYSTEM);

const folder = useFolders();

// Linked against the system's SQLite: Bun's is inside a program that the sanitizers do not know.
test.skipIf(lacking !== undefined).each([
  { name: "with the processor's AES instructions", flags: [] },
  { name: "with AES in vector registers", flags: ["-DSVC_WITHOUT_AES_INSTRUCTIONS=1"] },
])(
  `the library makes no memory error and no undefined step $name${lacking === undefined ? "" : `: left out, ${lacking}`}`,
  ({ flags }) => {
    const place = folder();
    const driver = join(place, "driver");
    const packs = join(place, "packs");
    mkdirSync(packs);
    compileDriver({ library: "svccrypt", source: DRIVER, flags, system: SYSTEM }, driver);
    const run = Bun.spawnSync([driver, packs], {
      env: { ...process.env, ASAN_OPTIONS: "detect_leaks=1", UBSAN_OPTIONS: "print_stacktrace=1" },
    });
    expect(run.stderr.toString()).toBe("");
    expect(run.stdout.toString()).toBe("ok\n");
    expect(run.exitCode).toBe(0);
    // Another implementation opens what this one wrote. The driver's keys are all `k`.
    const pack = readFileSync(join(packs, "WAL-1024.pack"));
    const key = Buffer.alloc(32, "k");
    const keys = { page: key, log: key, check: key };
    expect(openImage(keys, 1, 2, pack.subarray(1024, 2048))).toHaveLength(1024);
  },
  LIMIT_MS,
);
