import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativePlugin } from "../../scripts/build/native-plugin.ts";
import { parseTarget } from "../../scripts/build/targets.ts";
import { leaks, MARKER, useFolders } from "../adapters/crypt/packs.ts";

const ROOT = join(import.meta.dir, "../..");
const LIMIT_MS = 120_000;

const folder = useFolders();

test(
  "a compiled program encrypts with an empty PATH, and unpacks a damaged library again",
  async () => {
    const place = folder();
    const executable = join(place, "program");
    const home = join(place, "home");
    const packs = join(place, "packs");
    for (const made of [home, packs]) mkdirSync(made);
    const target = parseTarget(`${process.platform}-${process.arch}`);
    await Bun.build({
      entrypoints: [join(import.meta.dir, "encrypted-program.ts")],
      compile: { target: `bun-${target}`, outfile: executable },
      plugins: [await nativePlugin(ROOT, target)],
    });
    const run = (): string => {
      const child = Bun.spawnSync([executable, packs], {
        cwd: home,
        env: { HOME: home, PATH: "", TMPDIR: home },
      });
      return child.stdout.toString() + child.stderr.toString();
    };
    const expected = {
      words: [{ body: "MARKERpelican" }],
      points: [{ n: 1 }],
      bunfs: true,
    };
    const first = run();
    expect(JSON.parse(first)).toEqual(expected);
    const cache = join(home, ".cache/svc");
    const library = readdirSync(cache, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("svccrypt.so"),
    );
    const path = join(cache, library ?? "missing");
    expect(statSync(path).mode & 0o777).toBe(0o500);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(leaks(packs)).toEqual([]);
    expect(leaks(home).filter((line) => line.includes(MARKER))).toEqual([]);
    await Bun.file(join(packs, "memory.pack")).delete();
    await Bun.file(path).delete();
    writeFileSync(path, "not a library");
    expect(JSON.parse(run())).toEqual(expected);
  },
  LIMIT_MS,
);
