import { expect, test } from "bun:test";
import { assistantCommand } from "../../src/assistants/assistant-command.ts";
import { SELF } from "../../src/assistants/catalogue.ts";

const INPUT = { pack: "/home/ada/m.pack" } as const;

test("an assistant starts the program with the pack, which it does not make", () => {
  expect(assistantCommand(INPUT, undefined).args).toEqual([
    ...SELF.slice(1),
    "mcp",
    "--db-path",
    "/home/ada/m.pack",
    "--no-create",
    "--tools",
    "core",
  ]);
});
