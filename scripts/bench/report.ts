import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

/** One line of the table. */
export type Figure = {
  readonly what: string;
  /** With its unit. */
  readonly figure: string;
  /** Against the raw probe of the same run, and which; `-` where there is none. */
  readonly ratio: string;
};

/** A measured part: its lines and what a reader must know to understand them. */
export type Section = {
  readonly title: string;
  /** What produces it, as typed in the project's folder. */
  readonly command: string;
  readonly notes: readonly string[];
  readonly figures: readonly Figure[];
};

const INTRODUCTION = `# Performance

Written by \`bun scripts/bench/bench.ts --write\` against the executable that it builds from the commit which a section names; a section without one
was measured by an earlier program, and a part that is run alone replaces its own section. The check fails once too much has changed since. Times depend on the machine and on what else it does, so each figure is shown with its ratio to a raw probe, which alternates with it in the same run: compare the ratios. "Durable" means that the answer came after the disk
had confirmed the data (\`synchronous=full\`).
`;

/** The lines of a section as Markdown. @param commit of the program; absent: not told */
export function toMarkdown({ title, command, notes, figures }: Section, commit?: string): string {
  const rows = figures.map(({ what, figure, ratio }) => `| ${what} | ${figure} | ${ratio} |`);
  return [
    `## ${title}`,
    "",
    `\`${command}\` on ${machine()}${commit === undefined ? "" : `, program of commit \`${commit}\``}`,
    "",
    "| What | Figure | Ratio to its probe |",
    "|---|---|---|",
    ...rows,
    "",
    ...notes.flatMap((note) => [note, ""]),
  ].join("\n");
}

/** Writes sections into the page; sections of other parts stay as they are. */
export function writePage(path: string, sections: readonly Section[]): void {
  const commit = commitOfProgram();
  const parts = existsSync(path)
    ? readFileSync(path, "utf8")
        .split(/^(?=## )/m)
        .slice(1)
    : [];
  const byTitle = new Map(parts.map((part) => [/^## (.*)/.exec(part)?.[1] ?? "", part.trimEnd()]));
  for (const section of sections) byTitle.set(section.title, toMarkdown(section, commit).trimEnd());
  writeFileSync(path, `${[INTRODUCTION.trimEnd(), ...byTitle.values()].join("\n\n")}\n`);
}

/** The commit from which the program is built. @throws Error if its sources differ from it */
export function commitOfProgram(): string {
  const git = (...words: string[]) =>
    Bun.spawnSync(["git", "-C", join(import.meta.dir, "../.."), ...words])
      .stdout.toString()
      .trim();
  if (git("status", "--porcelain", "--", "src", "package.json", "bun.lock") !== "")
    throw new Error("src has changes that are in no commit: figures must be of one");
  return git("rev-parse", "--short=12", "HEAD");
}

function machine(): string {
  const model = cpus()[0]?.model.replace(/\s+/g, " ").trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${model}), ${memory} GiB memory, ${process.platform}-${process.arch}, Bun ${Bun.version}`;
}
