import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { figureFaults, whyNotCompared } from "../../scripts/check/figures.ts";
import { type Lacking, leftOut } from "../left-out.ts";

const TITLES = ["Store", "Retrieve", "Searches", "Packing and receipts", "Start and memory"];

const folder = mkdtempSync(join(tmpdir(), "svc-figures-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(root: string, ...words: readonly string[]): string {
  const names = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"];
  const { stdout } = Bun.spawnSync(["git", "-C", root, ...names, ...words], { stderr: "ignore" });
  return stdout.toString().trim();
}

function page(root: string, commits: readonly (string | undefined)[]): void {
  const of = (commit: string | undefined) => (commit ? `, program of commit \`${commit}\`` : "");
  const sections = TITLES.map((title, index) => `## ${title}\n\n\`x\` on y${of(commits[index])}\n`);
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(join(root, "docs/performance.md"), `# Performance\n\n${sections.join("\n")}`);
}

function commit(root: string, text: string): string {
  mkdirSync(join(root, "src/engine"), { recursive: true });
  writeFileSync(join(root, "src/engine/a.ts"), text);
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", text);
  return git(root, "rev-parse", "--short=12", "HEAD");
}

const NO_GIT: Lacking = Bun.which("git") === null ? "it takes git" : undefined;

test.skipIf(NO_GIT !== undefined)(
  `figures are of a program that is nearly this one${leftOut(NO_GIT)}`,
  async () => {
    const root = join(folder, "whole");
    mkdirSync(root);
    git(root, "init", "-q");
    page(root, []);
    const first = commit(root, "one");
    expect(await whyNotCompared(root)).toContain("names a commit");
    page(
      root,
      TITLES.map(() => first),
    );
    commit(root, "two");
    expect([await whyNotCompared(root), figureFaults(root)]).toEqual([undefined, []]);

    page(
      root,
      TITLES.map((_, index) => (index === 2 ? undefined : first)),
    );
    expect(figureFaults(root)).toEqual(["Searches: names no commit; measure it again"]);

    // As after a rebase: of another history, and the same program.
    git(root, "checkout", "-q", "-f", "-b", "aside", first);
    const aside = commit(root, "aside");
    git(root, "checkout", "-q", "-f", "-");
    page(
      root,
      TITLES.map(() => aside),
    );
    expect(figureFaults(root)).toEqual([]);
    for (let at = 0; at < 200; at += 1) writeFileSync(join(root, `src/engine/${at}.ts`), "");
    commit(root, "two hundred more");
    expect(figureFaults(root)).toContain(
      `Store: 201 files of the program differ from ${aside}; measure it again`,
    );

    page(
      root,
      TITLES.map(() => "0123456789ab"),
    );
    expect(await whyNotCompared(root)).toContain("not in this copy");
    page(
      root,
      TITLES.map(() => first),
    );
    const shallow = join(folder, "shallow");
    git(folder, "clone", "-q", "--depth", "1", `file://${root}`, shallow);
    page(
      shallow,
      TITLES.map(() => first),
    );
    expect(await whyNotCompared(shallow)).toBe("no whole history here");
  },
);
