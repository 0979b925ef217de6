import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";
import { Interrupted } from "../signals.ts";
import { confirm, isTerminal } from "../terminal.ts";
import { copyPack } from "./backup.ts";

const EXAMPLES = `
Examples:
  svc restore-backup /mnt/usb/memory-2026-03-01.pack ./memory.pack

First stop what uses the pack. The backup is checked and copied, and opens with the key that it had. The pack that was there
and its log are set aside under the names that are printed; nothing is deleted. Where it is not the pack of the backup, the
command asks first.`;

/** `svc restore-backup`: puts a copy in the place of a pack. */
export const restoreBackupCommand = packCommand(
  {
    name: "restore-backup",
    description: "put a backup in the place of a pack, which is set aside",
    arguments: [
      ["<backup>", "what svc backup made"],
      ["<pack>", "the pack to replace, or to make"],
    ],
    options: [new Option("--yes", "do not ask before another pack is replaced")],
    examples: EXAMPLES,
  },
  (context, path: string, to: string, options: PackOptions & { readonly yes?: true }) =>
    copyPack(context, path, to, options, async (reason) => {
      if (options.yes === true) return;
      if (!isTerminal()) throw invalid("--yes", `is needed to replace another pack: ${reason}`);
      context.output.note(`Warning: ${reason}`);
      if (await confirm("Put the backup in its place?", false)) return;
      throw new Interrupted("Nothing was changed.");
    }),
);
