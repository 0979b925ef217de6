import { expect, test } from "bun:test";
import { assistantCommand } from "../../src/assistants/assistant-command.ts";
import { CLIENT_NAMES } from "../../src/assistants/catalogue.ts";
import { SELF } from "../../src/assistants/surroundings.ts";

const INPUT = { pack: "/home/ada/m.pack" } as const;

test("assistants whose model reads the text of an answer get it readable, all others as JSON", () => {
  const asking = CLIENT_NAMES.filter((client) =>
    assistantCommand({ ...INPUT, client }, undefined)
      .args.join(" ")
      .endsWith("--answers text"),
  );

  expect(asking).toEqual(["claude-desktop", "cursor", "vscode", "gemini", "windsurf", "zed"]);
  for (const client of ["claude-code", "other", undefined]) {
    expect(assistantCommand({ ...INPUT, client }, undefined).args).toEqual([
      ...SELF.slice(1),
      "mcp",
      "--db-path",
      "/home/ada/m.pack",
      "--no-create",
    ]);
  }
});
