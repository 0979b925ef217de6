import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Suites that try the built executable, or work long: they run when they are changed themselves, and in the whole check. */
const SLOW = /^test\/(fault|scenario|scripts)\//;
/** What a file takes that has no recorded time, in milliseconds. */
const UNKNOWN_MS = 1000;

/** Tests to run for a change, and those that were left out for the time, both nearest first. */
export type Affected = { readonly run: readonly string[]; readonly leftOut: readonly string[] };

export type AffectedInput = {
  readonly root: string;
  /** Changed files, relative to the root. */
  readonly changed: readonly string[];
  /** Milliseconds that a test file took, by its path. */
  readonly timings: Readonly<Record<string, number>>;
  /** Milliseconds of all tests to run together; the fastest runs in any case. */
  readonly budgetMs: number;
};

/**
 * The tests that load a changed file, directly or through others. The test beside a changed file comes first, then those that
 * load it through the fewest others, and of these the fastest.
 */
export function affectedTests({ root, changed, timings, budgetMs }: AffectedInput): Affected {
  const distance = distances(importersIn(root), changed);
  const isWanted = (path: string): boolean =>
    path.endsWith(".test.ts") && (!SLOW.test(path) || changed.includes(path));
  const msOf = (path: string): number => timings[path] ?? UNKNOWN_MS;
  const mirrors = new Set(
    changed.map((path) => path.replace(/^src\/(.*)\.ts$/, "test/$1.test.ts")),
  );
  const rank = (path: string): number => (mirrors.has(path) ? 0 : (distance.get(path) ?? 0) + 1);
  const found = [...distance.keys()]
    .filter(isWanted)
    .sort((a, b) => rank(a) - rank(b) || msOf(a) - msOf(b) || (a < b ? -1 : 1));
  let left = budgetMs;
  const run: string[] = [];
  const leftOut: string[] = [];
  for (const path of found) {
    const fits = msOf(path) <= left;
    (fits ? run : leftOut).push(path);
    if (fits) left -= msOf(path);
  }
  if (run.length > 0) return { run, leftOut };
  const [fastest, ...others] = leftOut.toSorted((a, b) => msOf(a) - msOf(b));
  return { run: fastest === undefined ? [] : [fastest], leftOut: others };
}

/** Who imports a file, for every file of the project; imports of types alone are left out. */
function importersIn(root: string): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  for (const path of new Bun.Glob("{src,clients,test,scripts}/**/*.ts").scanSync(root)) {
    const text = readFileSync(join(root, path), "utf8");
    for (const { path: to } of transpiler.scanImports(text)) {
      if (!to.startsWith(".")) continue;
      const target = join(dirname(path), to);
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return importers;
}

/** Every file that a change reaches, with the number of imports in between. */
function distances(
  importers: ReadonlyMap<string, readonly string[]>,
  changed: readonly string[],
): ReadonlyMap<string, number> {
  const found = new Map(changed.map((path) => [path, 0]));
  for (const [path, distance] of found) {
    for (const importer of importers.get(path) ?? []) {
      if (!found.has(importer)) found.set(importer, distance + 1);
    }
  }
  return found;
}

/**
 * The files that differ from where this branch left `main`, or from the last commit on `main` itself, with those that git does
 * not know yet. Deleted files are left out.
 * @throws Error with git's words
 */
export function changedFiles(root: string): readonly string[] {
  const git = (...args: readonly string[]): readonly string[] => {
    const { success, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd: root });
    if (!success) throw new Error(stderr.toString().trim());
    return stdout.toString().split("\n").filter(Boolean);
  };
  const main = git(
    "for-each-ref",
    "--format=%(refname)",
    "refs/heads/main",
    "refs/remotes/origin/main",
  );
  const [base = "HEAD"] = main[0] === undefined ? [] : git("merge-base", "HEAD", main[0]);
  const files = [
    ...git("diff", "--name-only", "--relative", base),
    ...git("ls-files", "--others", "--exclude-standard"),
  ];
  return [...new Set(files)]
    .map((path) => relative(root, join(root, path)))
    .filter((path) => existsSync(join(root, path)));
}
