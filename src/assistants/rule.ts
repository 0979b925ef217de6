/** A rule of one sentence for assistants into which nothing can be put: it points them to the tools. */
import { foldersOf, requireClient, type Surroundings } from "./catalogue.ts";
import { type ClientChange, type ClientEntry, changeOf } from "./config-change.ts";
import { readConfig } from "./config-file.ts";
import { lineEndingOf } from "./server-entry.ts";

export const RULE =
  "Before you begin a task or answer from memory, ask the tool memory_retrieve what is known about it, and keep lasting facts, preferences and decisions with memory_store.";

const [BEGIN, END] = ["<!-- svc:rule -->", "<!-- /svc:rule -->"];
/** One line feed before it and one behind it belong to it; where it is all of the file, it was made with it. */
const BLOCK = new RegExp(
  `(?:^|\\r?\\n)${RegExp.escape(BEGIN)}[\\s\\S]*?${RegExp.escape(END)}(?:\\r?\\n|$)`,
);

/** What adding the rule changes. Undefined: no file is known for it, or the client is reminded without it. */
export function planRule(
  entry: Pick<ClientEntry, "client" | "scope">,
  here: Surroundings,
): ClientChange | undefined {
  return planned(entry, here, (before) => {
    const rest = before === undefined ? undefined : before.replace(BLOCK, "");
    if (before !== undefined && before !== rest) return before;
    const end = lineEndingOf(before ?? "");
    const block = [BEGIN, RULE, END, ""].join(end);
    return before === undefined ? block : `${before}${end}${block}`;
  });
}

/** What taking the rule away changes: the file is what it would be without it, to the last byte. */
export function planNoRule(
  entry: Pick<ClientEntry, "client" | "scope">,
  here: Surroundings,
): ClientChange | undefined {
  return planned(entry, here, (before) => {
    const rest = before?.replace(BLOCK, "");
    return rest === "" && before?.startsWith(BEGIN) === true ? undefined : rest;
  });
}

function planned(
  { client: name, scope }: Pick<ClientEntry, "client" | "scope">,
  here: Surroundings,
  change: (before: string | undefined) => string | undefined,
): ClientChange | undefined {
  const client = requireClient(name);
  const folders = foldersOf(here);
  const ofUser = client.rule === "project" ? undefined : client.rule?.(folders);
  const ofProject = client.rule && folders.place(here.folder, "AGENTS.md");
  const place = scope === "user" ? ofUser : ofProject;
  if (place === undefined) return undefined;
  const before = readConfig(place.file);
  return changeOf(client, { place, isShared: scope === "project", before, after: change(before) });
}
