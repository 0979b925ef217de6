/**
 * Writes `docs/settings.md` from the settings schema: `bun scripts/docs-settings.ts [--check]`.
 * With `--check` nothing is written; a difference is an error.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeSettings, NO_EFFECT, type SettingDescription } from "../src/config/schema.ts";

const FILE = join(import.meta.dir, "../docs/settings.md");

const INTRODUCTION = `# Settings

Generated from the schemas in \`src/config/\` by \`bun scripts/docs-settings.ts\`; change it there.

A value is looked up in this order, setting by setting: what a caller or an option of the command line says, the
environment, the [file of settings](#the-file-of-settings), the default below. Names ignore case.

- A group may be one JSON object (\`SVC_API='{"cors_origins":["http://localhost:3000"]}'\`); single variables win over its members.
- Lists and maps are JSON. A map replaces the default map as a whole; one entry may be a variable of its own (\`SVC_API__USER_KEYS__anna=…\`).
- true or false: 1/0, true/false, t/f, yes/no, y/n, on/off.
- An unknown name within a group is an error; an unknown \`SVC_\` name elsewhere gives a warning.
- Without effect in this version, taken with a warning: ${[...NO_EFFECT].map((name) => `\`${name}\``).join(", ")}.
- A number or a choice that may be unset is unset by \`none\` or \`null\` (\`extraction.reasoning_effort\`, where \`none\` is a value, by \`null\` only), a text by an empty value.
- A path may begin with \`~\`, \`$HOME\` or \`\${HOME}\`, also where no shell reads it; one with another variable is refused.
- A setting that the chosen \`scoring.fusion\` does not read is dropped with a warning.
- Messages name a setting and never show the value of a secret one.

## The file of settings

- \`svc mcp\`: \`.env\` in the folder of the pack, where an absolute path names the pack (\`--db-path\`, \`SVC_PACK_PATH\`, \`SVC_DB_PATH\`). Never \`.env\` in the working directory: an assistant works in folders of other people.
- \`svc serve\`, the other commands, the library: \`.env\` in the working directory.
- \`svc mcp\` and \`svc serve\` with \`--env-file\`: the named file alone.
- It is left out with a warning when it belongs to another user, when others can change it (beside a pack: the group, too), when it is a link of another user, no regular file,
  larger than 1 MiB or not text. A file named by \`--env-file\` may also belong to the administrator; if it cannot be used, the command is refused.
- Its settings that say where data and keys go and who may come for them (addresses, paths, \`embedding.provider\`, what turns extraction on, \`encryption_key\`, \`api.cors_origins\`, \`api.cors_allow_credentials\`, \`api.allowed_hosts\`) are named on
  standard error, without their values.
- An address of a model in the file gets a key of the file only, never one of the environment.
`;

/** The page as it should be. */
export function settingsPage(): string {
  const groups = Map.groupBy(describeSettings(), (setting) => setting.group);
  const sections = [...groups].map(
    ([group, settings]) =>
      `\n## ${group === undefined ? "General" : `Group \`${group}\``}\n\n` +
      "| Setting | Environment | Type | Default | Bounds | Meaning |\n|---|---|---|---|---|---|\n" +
      settings.map(row).join("\n"),
  );
  return `${INTRODUCTION}${sections.join("\n")}\n`;
}

function row(setting: SettingDescription): string {
  const cells = [
    `\`${setting.setting}\``,
    setting.environment.map((name) => `\`${name}\``).join("<br>"),
    setting.type,
    setting.defaultText === undefined ? "unset" : `\`${setting.defaultText}\``,
    setting.bounds,
    setting.description,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

if (import.meta.main) {
  const page = settingsPage();
  if (process.argv.includes("--check")) {
    if (readFileSync(FILE, "utf8") !== page) {
      console.error("docs/settings.md is not up to date; run: bun scripts/docs-settings.ts");
      process.exitCode = 1;
    }
  } else {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, page);
  }
}
