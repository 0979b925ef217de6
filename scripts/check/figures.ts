import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The sections of the page that one command measures; all of one program. */
const TOGETHER = ["Store", "Retrieve", "Searches", "Packing and receipts", "Start and memory"];
/** What the figures are of. */
const MEASURED = [
  "src/adapters",
  "src/domain",
  "src/engine",
  "src/surface/contract",
  "src/surface/http",
];
/** Files of that which differ. Not commits: a history that was written anew has others. */
const FILES_MAX = 200;
const COMMIT = /, program of commit `([0-9a-f]{12})`/;

/** The commit that each section of docs/performance.md names. */
export function commitsOf(page: string): ReadonlyMap<string, string | undefined> {
  const sections = page.split(/^## /m).slice(1);
  return new Map(sections.map((text) => [text.split("\n", 1)[0] ?? "", COMMIT.exec(text)?.[1]]));
}

function git(root: string, ...words: readonly string[]): string | undefined {
  const { exitCode, stdout } = Bun.spawnSync(["git", "-C", root, ...words], { stderr: "ignore" });
  return exitCode === 0 ? stdout.toString().trim() : undefined;
}

function read(root: string): ReadonlyMap<string, string | undefined> {
  return commitsOf(readFileSync(join(root, "docs/performance.md"), "utf8"));
}

/** Why the commits of the figures cannot be compared here; undefined if they can. */
export async function whyNotCompared(root: string): Promise<string | undefined> {
  const commits = [...read(root).values()].flatMap((commit) => commit ?? []);
  if (commits.length === 0) return "no section of docs/performance.md names a commit";
  if (git(root, "rev-parse", "--is-shallow-repository") !== "false") return "no whole history here";
  const unknown = commits.find((commit) => git(root, "cat-file", "-e", commit) === undefined);
  return unknown && `the commit ${unknown} is not in this copy of the history`;
}

/** What is wrong with the commits that docs/performance.md names, a line each. */
export function figureFaults(root: string): readonly string[] {
  const commits = read(root);
  const missing = TOGETHER.filter((title) => commits.get(title) === undefined).map(
    (title) => `${title}: names no commit; measure it again`,
  );
  const faults = [...commits].flatMap(([title, commit]) => {
    if (commit === undefined || !TOGETHER.includes(title)) return [];
    const files = git(root, "diff", "--name-only", commit, "HEAD", "--", ...MEASURED);
    const many = files === "" || files === undefined ? 0 : files.split("\n").length;
    if (many <= FILES_MAX) return [];
    return [`${title}: ${many} files of the program differ from ${commit}; measure it again`];
  });
  return [...missing, ...faults];
}
