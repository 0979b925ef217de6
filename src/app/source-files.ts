import { type Dirent, lstatSync, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { LEADING_BYTES, mediaKind } from "../adapters/footage/source.ts";
import { expandedPath } from "../config/path.ts";
import { compareCodePoints } from "../lib/text.ts";

/** A file to observe, or a skipped one in a folder, with the reason. */
export type SourceFile = { readonly path: string; readonly skipped?: string };

/** The named files, and those in the named folders, recursively, ordered by name. Links in a folder are not followed. */
export async function listSources(paths: readonly string[]): Promise<readonly SourceFile[]> {
  const sources: SourceFile[] = [];
  for (const path of paths.map(expandedPath)) {
    if (isFolder(path)) await listFolder(path, sources);
    else sources.push({ path });
  }
  return sources;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Observing it will report what is wrong.
    return false;
  }
}

async function listFolder(folder: string, sources: SourceFile[]): Promise<void> {
  for (const entry of entriesOf(folder, sources)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await listFolder(path, sources);
    else sources.push({ path, ...(await whySkipped(path, entry)) });
  }
}

function entriesOf(folder: string, sources: SourceFile[]): readonly Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.sort((one, other) => compareCodePoints(one.name, other.name));
  } catch (error) {
    sources.push({ path: folder, skipped: `cannot be read (${codeOf(error)})` });
    return [];
  }
}

async function whySkipped(
  path: string,
  entry: Dirent,
): Promise<{ readonly skipped?: string } | undefined> {
  if (entry.isSymbolicLink()) return { skipped: "a link" };
  // A name that is not UTF-8 is read with other characters, under which no file exists.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { skipped: "has no readable name" };
  if (!entry.isFile()) return { skipped: "no file" };
  try {
    const isKnown = mediaKind(entry.name, await headOf(path)) !== undefined;
    return isKnown ? undefined : { skipped: "no photo or video" };
  } catch (error) {
    return { skipped: `cannot be read (${codeOf(error)})` };
  }
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const head = new Uint8Array(LEADING_BYTES);
    const { bytesRead } = await file.read(head, 0, LEADING_BYTES, 0);
    return head.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
