import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How large a part of the repository may be. */
export type SizeBudget = {
  readonly name: string;
  /** `lines` and `files` of TypeScript, `bytes` of binary files. */
  readonly unit: "lines" | "files" | "bytes";
  /** Folders, and `folder/*` for what stands in it but not below. */
  readonly of: readonly string[];
  /** What has a budget of its own. */
  readonly without?: readonly string[];
  readonly max: number;
  /** Where it is to go. */
  readonly target: number;
};

const CONFIG = "scripts/config/sizes.json";
/** Written by the build, or not ours. */
const NOT_OURS = /(?:^|\/)(?:node_modules|dist)\/|^src\/page\/client\//;
const TYPESCRIPT = /\.tsx?$/;
/** As git tells binary files from text. */
const BINARY_WITHIN = 8000;

/** The budgets of a repository. @param root the folder of package.json */
export function readBudgets(root: string): readonly SizeBudget[] {
  // SAFETY: the file is ours.
  return JSON.parse(readFileSync(join(root, CONFIG), "utf8")) as readonly SizeBudget[];
}

/** The budgets that the files exceed, a line each. */
export function exceeded(root: string, budgets = readBudgets(root)): readonly string[] {
  const sizeOf = createMeter(root);
  return budgets.flatMap((budget) => {
    const { name, unit, max, target } = budget;
    const size = sizeOf(budget);
    return size <= max
      ? []
      : [
          `${name}: ${size} ${unit}, at most ${max} (target ${target}); who raises it in ${CONFIG} says in the commit what was tried first`,
        ];
  });
}

/** Measures parts of a repository; each file is read once. */
export function createMeter(
  root: string,
): (budget: Pick<SizeBudget, "unit" | "of" | "without">) => number {
  const files = new Map<string, readonly { readonly path: string; readonly bytes: Buffer }[]>();
  const filesOf = (top: string) => {
    const known = files.get(top);
    if (known !== undefined) return known;
    const read = readdirSync(join(root, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((path) => !NOT_OURS.test(path))
      .map((path) => ({ path, bytes: readFileSync(join(root, path)) }));
    files.set(top, read);
    return read;
  };
  return ({ unit, of, without = [] }) => {
    const tops = new Set(of.map((folder) => folder.split("/")[0] ?? ""));
    const within = [...tops].flatMap(filesOf).filter(({ path }) => {
      const isIn = (folders: readonly string[]) => folders.some((folder) => isBelow(path, folder));
      return isIn(of) && !isIn(without);
    });
    const measured = within.map(({ path, bytes }) => sizeIn(unit, path, bytes));
    return measured.reduce((sum, size) => sum + size, 0);
  };
}

function isBelow(path: string, folder: string): boolean {
  if (!folder.endsWith("/*")) return path.startsWith(`${folder}/`);
  const place = folder.slice(0, -1);
  return path.startsWith(place) && !path.slice(place.length).includes("/");
}

function sizeIn(unit: SizeBudget["unit"], path: string, bytes: Buffer): number {
  if (unit === "bytes") return bytes.subarray(0, BINARY_WITHIN).includes(0) ? bytes.length : 0;
  if (!TYPESCRIPT.test(path)) return 0;
  return unit === "files" ? 1 : bytes.toString("latin1").split("\n").length - 1;
}
