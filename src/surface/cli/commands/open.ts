import { Command } from "commander";
import { VERSION } from "../../../app/version.ts";
import { workingFolder } from "../../../config/path.ts";
import { envFileIn } from "../../../config/settings-file.ts";
import { openInBrowser } from "../browser.ts";
import type { CliContext } from "../context.ts";
import { configOfPack } from "../default-pack.ts";
import { encryptionKeyOption, keyRequest } from "../options.ts";
import { PACK_ARGUMENT } from "../pack-command.ts";
import { packName, READ_ONLY_OPTION } from "../serving.ts";
import { aborted, stopSignal } from "../signals.ts";
import { stderrLog } from "../stderr-log.ts";

const EXAMPLES = `
Examples:
  svc open                             the configured pack, else ./memory.pack
  svc open ./memory.pack
  svc open ./memory.pack --read-only
  svc open --no-browser                print the link instead

Shows the memories in a browser: find, ask, correct, archive. Only this machine can reach the page, and only with the link, which
works once and for two minutes. Ctrl-C ends it. Assistants may use the pack meanwhile.`;

type OpenOptions = {
  readonly encryptionKey?: string;
  readonly readOnly?: true;
  readonly browser: boolean;
};

/** `svc open`: the inspector in a browser. */
export function openCommand(context: CliContext): Command {
  return new Command("open")
    .description("look through a pack in a browser: find, understand, correct")
    .argument("[pack]", PACK_ARGUMENT)
    .addOption(encryptionKeyOption())
    .option(...READ_ONLY_OPTION)
    .option("--no-browser", "print the link instead of opening a browser")
    .addHelpText("after", EXAMPLES)
    .action((pack: string | undefined, options: OpenOptions) => open(context, pack, options));
}

async function open(
  context: CliContext,
  pack: string | undefined,
  { encryptionKey, readOnly, browser }: OpenOptions,
): Promise<void> {
  const { output, serving } = context;
  const { findKey } = await import("../../../app/pack-key.ts");
  const { openFollowing } = await import("../../../app/open-engine.ts");
  const request = keyRequest(encryptionKey);
  const { config, source } = await findKey(configOfPack(context, pack), request);
  const log = stderrLog("warn");
  const warn = (message: string): void => log("warn", message);
  const stop = stopSignal();
  const server = await serving.inspect({
    config,
    settingsFile: envFileIn(workingFolder()),
    key: encryptionKey,
    keyIsKept: source.kind === "stored",
    readOnly: readOnly === true,
    openEngine: () => openFollowing(config, { createIfMissing: false, readOnly, warn }),
    log,
    onSessionEnded: () =>
      output.note(
        "The link was used a second time, so the page was locked: somebody else may have read it. Start svc open again.",
      ),
  });
  output.note(`svc ${VERSION} shows ${packName(config)} at ${server.url}`);
  const link = server.link();
  const isShown = browser && (await openInBrowser(link));
  output.note(
    isShown
      ? "Your browser opens it. If not, this link does, once and for two minutes:"
      : "Open this link in a browser; it works once and for two minutes:",
  );
  output.note(`  ${link}`);
  output.note("Ctrl-C ends it.");
  await aborted(stop);
  await server.stop();
  output.note("svc stopped");
}
