import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installByPip } from "../build/pip.ts";
import { run } from "../build/run.ts";
import { productOf } from "../bundle/bundle.ts";
import { containerFile } from "./papers.ts";

const REQUIREMENTS = join(import.meta.dir, "hadolint.txt");

function cacheFolder(root: string): string {
  return join(root, "node_modules/.cache/hadolint");
}

/** The linter of container files, where it is there already: in the cache of the project, or on the `PATH`. */
function findHadolint(root: string): string | undefined {
  const cached = join(cacheFolder(root), "bin/hadolint");
  return existsSync(cached) ? cached : (Bun.which("hadolint") ?? undefined);
}

/** Why the linter cannot be used: it is not there and nobody wants it installed (`CI` set does), or it cannot be installed. */
export async function whyNoHadolint(root: string): Promise<string | undefined> {
  if (findHadolint(root) !== undefined) return undefined;
  if (process.env["CI"] === undefined) {
    return "hadolint is not installed; set CI=true to have it installed below node_modules";
  }
  const hindrance = await installByPip(REQUIREMENTS, cacheFolder(root));
  return hindrance && `hadolint cannot be installed by pip: ${hindrance}`;
}

/** What the linter finds in the container file of a release and in the one that docs/operations.md shows; empty when nothing. */
export async function lintContainerFiles(root: string): Promise<string> {
  const shown = /```dockerfile\n([\s\S]*?)```/.exec(
    readFileSync(join(root, "docs/operations.md"), "utf8"),
  );
  if (shown?.[1] === undefined) return "docs/operations.md shows no container file";
  const place = mkdtempSync(join(tmpdir(), "svc-container-"));
  try {
    writeFileSync(join(place, "release"), containerFile(await productOf(root)));
    writeFileSync(join(place, "docs"), shown[1]);
    const command = [findHadolint(root) ?? "hadolint", "--no-color", "release", "docs"];
    const { exitCode, stdout, stderr } = await run(command, { cwd: place });
    return exitCode === 0 ? "" : stdout + stderr;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const found = await lintContainerFiles(join(import.meta.dir, "../.."));
  if (found !== "") console.error(found);
  process.exitCode = found === "" ? 0 : 1;
}
