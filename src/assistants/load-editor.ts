import type { ConfigForm } from "./catalogue.ts";
import type { Editor } from "./editor.ts";

/** The editor of a form; its parser is loaded here. */
export async function loadEditor({ language, section }: ConfigForm): Promise<Editor> {
  return language === "json"
    ? (await import("./json-editor.ts")).jsonEditor(section)
    : (await import("./toml-editor.ts")).tomlEditor(section);
}
