import { mkdirSync, readFileSync } from "node:fs";
import { replaceFile } from "../adapters/native/system-files.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { type Project, projectOf } from "./project.ts";
import { captureFolder } from "./state.ts";

/** What a person decided about projects, by id: another name, or that one is part of another. */
type Decisions = Readonly<
  Record<string, { readonly name?: string | undefined; readonly into?: string | undefined }>
>;

const FILE = "projects.json";
/** Joined projects may be joined again. */
const STEPS = 20;

function decisions(): Decisions {
  try {
    return JSON.parse(readFileSync(captureFolder(FILE), "utf8"));
  } catch {
    return {};
  }
}

function decide(id: string, change: Decisions[string]): void {
  const all = decisions();
  mkdirSync(captureFolder(), { recursive: true, mode: 0o700 });
  const next = { ...all, [id]: { ...all[id], ...change } };
  replaceFile(captureFolder(FILE), `${JSON.stringify(next, null, 2)}\n`, 0o600);
}

export function renameProject({ id }: Project, name: string): void {
  decide(id, { name });
}

/** From now on the memories of one project are those of another, too. */
export function joinProjects(from: Project, into: Project): void {
  decide(from.id, { into: into.id });
}

/** A project as the person knows it: joined and renamed. */
function decided(project: Project, all: Decisions): Project {
  let { id } = project;
  for (let step = 0; step < STEPS; step += 1) {
    const next = all[id]?.into;
    if (next === undefined || next === project.id) break;
    id = next;
  }
  return { id, name: all[id]?.name ?? project.name };
}

/** The project of a folder. @returns undefined for no folder, or one that was deleted */
export function projectAt(folder: string | undefined): Project | undefined {
  const found = projectOf(folder);
  return found && decided(found, decisions());
}

/** Tells whether a memory belongs to a project, or to none. */
export function projectFilter(project: Project | undefined): (node: MemoryNode) => boolean {
  const all = decisions();
  const wanted = project && decided(project, all);
  return ({ scope, metadata }) => {
    const named = scope === "project" ? projectIn(metadata?.["project"]) : undefined;
    if (named === undefined) return true;
    const own = decided(named, all);
    return own.id === wanted?.id || (named.id === named.name && named.name === wanted?.name);
  };
}

/** The project that metadata name: an object of ours, or the name alone, which is then its id. */
function projectIn(value: unknown): Project | undefined {
  if (typeof value === "string" && value !== "") return { id: value, name: value };
  if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
  const name = "name" in value ? String(value.name) : String(value.id);
  return { id: String(value.id), name };
}

/** A project of an owner, and its memories in all states that are found. */
export type KnownProject = Project & {
  readonly nodes: readonly Pick<MemoryNode, "id" | "createdAt">[];
};

/** The projects of an owner, those with the most memories first. */
export async function listProjects(
  engine: MemoryEngine,
  userId: string,
): Promise<readonly KnownProject[]> {
  const all = decisions();
  const found = new Map<string, { name: string; nodes: Pick<MemoryNode, "id" | "createdAt">[] }>();
  for await (const { id, createdAt, metadata } of engine.iterNodes({ userId, scope: "project" })) {
    const named = projectIn(metadata?.["project"]);
    if (named === undefined) continue;
    const project = decided(named, all);
    const known = found.get(project.id) ?? { name: project.name, nodes: [] };
    known.nodes.push({ id, createdAt });
    found.set(project.id, known);
  }
  return [...found]
    .map(([id, rest]) => ({ id, ...rest }))
    .sort((one, other) => other.nodes.length - one.nodes.length);
}
