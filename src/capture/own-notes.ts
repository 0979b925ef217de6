/** What assistants note for themselves. It is offered for import, and stays theirs: nothing here writes. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Below the home folder; `*` is any one folder. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [".claude/CLAUDE.md", ".claude/projects/*/memory"],
  codex: [".codex/AGENTS.md", ".codex/memories"],
  gemini: [".gemini/GEMINI.md"],
};

/** The files that are there, and the folders that have notes. Links are not followed. */
export function ownNotes(client: string, home: string): readonly string[] {
  return (PLACES[client] ?? []).flatMap((place) => {
    const [before = "", after] = place.split("/*/");
    const paths =
      after === undefined
        ? [join(home, place)]
        : entriesIn(join(home, before)).map((name) => join(home, before, name, after));
    return paths.filter(hasNotes);
  });
}

function hasNotes(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return stat.size > 0;
  if (!stat?.isDirectory()) return false;
  return entriesIn(path).some((name) => name.endsWith(".md"));
}

function entriesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
