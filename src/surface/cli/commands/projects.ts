import { Command, Option } from "commander";
import {
  joinProjects,
  type KnownProject,
  listProjects,
  projectAt,
  renameProject,
} from "../../../capture/projects.ts";
import { workingFolder } from "../../../config/path.ts";
import { invalid, SvcError } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { counted } from "../../contract/core/tool-text.ts";
import type { CliContext } from "../context.ts";
import { ownerFor, withEngine } from "../memories.ts";
import { configFor, ownerOption, PACK, type PackOptions, packCommand } from "../options.ts";
import { table } from "../output.ts";

const EXAMPLES = `
Examples:
  svc projects list               the projects of captured texts, this folder's marked
  svc projects rename site shop   another name
  svc projects join old new       what was said in one belongs to the other, too
  svc projects forget site        shows what would be erased; --yes erases it

A project is known by its name or the beginning of its id. Names and joins are kept on this machine.`;

type ProjectOptions = PackOptions & { readonly userId?: string; readonly yes?: true };

/** Memories that one erasure takes. */
const BATCH = 1000;

export function projectsCommand(context: CliContext): Command {
  const command = new Command("projects").description("list, rename, join and forget projects");
  for (const build of [listPart, renamePart, joinPart, forgetPart]) {
    command.addCommand(build(context));
  }
  return command.addHelpText("after", EXAMPLES);
}

/** Makes memories of what was captured a moment ago: of all of it where it is to be erased. */
async function settle(engine: MemoryEngine, userId: string, isAll: boolean): Promise<void> {
  try {
    let left = await engine.processPending({ userId });
    while (isAll && left.processed > 0 && left.pending > left.failed) {
      left = await engine.processPending({ userId });
    }
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "pack_read_only") throw error;
  }
}

/** Opens the pack, and answers with its projects. */
async function withProjects(
  context: CliContext,
  path: string,
  { encryptionKey, userId: given, yes }: ProjectOptions,
  work: (projects: readonly KnownProject[], engine: MemoryEngine, userId: string) => unknown,
): Promise<void> {
  const config = await configFor(context, path, encryptionKey);
  await withEngine(context, config, async (engine) => {
    const userId = await ownerFor(context, engine, { given, path, isStoring: false });
    await settle(engine, userId, yes === true);
    await work(await listProjects(engine, userId), engine, userId);
  });
}

/** @throws SvcError not_found; invalid_argument for a name that several have */
function named(projects: readonly KnownProject[], word: string): KnownProject {
  const same = projects.filter(({ id, name }) => name === word || id === word);
  const like = projects.filter(({ id }) => word.length > 3 && id.startsWith(word));
  const [found, other] = same.length > 0 ? same : like;
  if (found === undefined) {
    throw new SvcError("not_found", `no project is called ${JSON.stringify(word)}`, {
      kind: "project",
      id: word,
    });
  }
  if (other === undefined) return found;
  throw invalid("project", `${JSON.stringify(word)} is the name of several; give an id`);
}

const listPart = packCommand(
  { name: "list", description: "show the projects", options: [ownerOption()], examples: EXAMPLES },
  (context, path: string, options: ProjectOptions) =>
    withProjects(context, path, options, (projects) => {
      const { output } = context;
      const here = projectAt(workingFolder())?.id;
      const rows = projects.map(({ id, name, nodes }) => {
        const last =
          nodes
            .map(({ createdAt }) => createdAt)
            .sort()
            .at(-1) ?? "";
        return { id, name, memories: nodes.length, last, is_here: id === here };
      });
      if (options.format === "json") return output.json({ projects: rows });
      if (rows.length === 0) return output.line("No assistant has captured anything in a project.");
      const cells = rows.map(({ id, name, memories, last, is_here: isHere }) => [
        name,
        String(memories),
        last.slice(0, 10),
        id,
        isHere ? "this folder" : "",
      ]);
      for (const line of table(["PROJECT", "MEMORIES", "LAST", "ID", ""], cells)) output.line(line);
    }),
);

const renamePart = packCommand(
  {
    name: "rename",
    description: "give a project another name",
    arguments: [PACK, ["<project>", "its name or id"], ["<name>", "the new name"]],
    options: [ownerOption()],
    examples: EXAMPLES,
  },
  (context, path: string, project: string, name: string, options: ProjectOptions) =>
    withProjects(context, path, options, (projects) => {
      const found = named(projects, project);
      renameProject(found, name);
      if (options.format === "json") context.output.json({ id: found.id, name });
      else context.output.line(`${found.name} is now called ${name}.`);
    }),
);

const joinPart = packCommand(
  {
    name: "join",
    description: "let what was said in one project belong to another",
    arguments: [PACK, ["<from>", "the project that ends"], ["<into>", "the project that goes on"]],
    options: [ownerOption()],
    examples: EXAMPLES,
  },
  (context, path: string, from: string, into: string, options: ProjectOptions) =>
    withProjects(context, path, options, (projects) => {
      const [one, other] = [named(projects, from), named(projects, into)];
      if (one.id === other.id) throw invalid("into", "is the same project");
      joinProjects(one, other);
      if (options.format === "json") context.output.json({ from: one.id, into: other.id });
      else context.output.line(`${one.name} is now part of ${other.name}.`);
    }),
);

const forgetPart = packCommand(
  {
    name: "forget",
    description: "erase all memories of a project",
    arguments: [PACK, ["<project>", "its name or id"]],
    options: [ownerOption(), new Option("--yes", "erase them; without it, only count")],
    examples: EXAMPLES,
  },
  (context, path: string, project: string, options: ProjectOptions) =>
    withProjects(context, path, options, async (projects, engine, userId) => {
      const { name, nodes } = named(projects, project);
      const isDone = options.yes === true;
      for (let at = 0; isDone && at < nodes.length; at += BATCH) {
        const ids = nodes.slice(at, at + BATCH).map(({ id }) => id);
        const { confirm } = await engine.forget({ userId, ids });
        await engine.forget({ userId, ids, mode: "erase", confirm });
      }
      const what = counted(nodes.length, "memory", "memories");
      if (options.format === "json") {
        context.output.json({ project: name, memories: nodes.length, is_done: isDone });
      } else if (isDone) context.output.line(`Forgotten: ${what} of ${name}.`);
      else context.output.line(`Would erase ${what} of ${name}. With --yes it does.`);
    }),
);
