import { Option } from "commander";
import type { Config } from "../../../config/schema.ts";
import { invalid } from "../../../domain/errors.ts";
import type { RekeyTarget } from "../../../packs/maintenance.ts";
import type { CliContext } from "../context.ts";
import { packWord } from "../default-pack.ts";
import { tellWeakness } from "../new-key.ts";
import { configFor, encryptionKeyOption } from "../options.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";
import { askNewKey } from "../secret-prompt.ts";
import { printRewrite } from "./compact.ts";

const EXAMPLES = `
Examples:
  svc rekey ./memory.pack              asks for the new passphrase, twice
  svc rekey ./memory.pack --encrypt    encrypts an unencrypted pack
  svc rekey ./memory.pack --plain      removes its encryption
  SVC_NEW_ENCRYPTION_KEY=… svc rekey ./memory.pack

The present key is found as by every other command. Refused while
something uses the pack; needs room for a copy. Whatever interrupts it leaves the pack with the old key or with the new
one, complete. If you lose the key, you lose the pack. Copies of the pack that were made before keep the old key.`;

type RekeyOptions = PackOptions & {
  readonly encrypt?: true;
  readonly plain?: true;
  readonly newEncryptionKey?: string;
};

/** `svc rekey`: gives a pack another key, its first key, or none. */
export const rekeyCommand = packCommand(
  {
    name: "rekey",
    description:
      "give a pack another key, encrypt one that is not encrypted, or remove its encryption",
    options: [
      new Option("--encrypt", "encrypt an unencrypted pack"),
      new Option("--plain", "remove its encryption").conflicts(["encrypt"]),
      encryptionKeyOption(),
      new Option(
        "--new-encryption-key <key>",
        "the new key (default: SVC_NEW_ENCRYPTION_KEY, else it is asked for)",
      ).conflicts(["plain"]),
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, options: RekeyOptions) => {
    const config = await configFor(context, path, options.encryptionKey);
    const { keyStatus } = await import("../../../packs/key-custody.ts");
    const { rekeyPack } = await import("../../../packs/maintenance.ts");
    // Before a passphrase is asked for, since it refuses a database and a pack that is missing.
    const { places } = await keyStatus(config);
    const target = await targetOf(context, config, options);
    const stopProgress = await context.output.progress("copying");
    const done = await rekeyPack(config, target).finally(stopProgress);
    printRewrite(context, done, options.format);
    if (places.length === 0 || !done.encrypted) return;
    context.output.note(
      `The new key is not kept on this machine, as the former one was. So that assistants can open the pack: svc key import ${packWord(path)}`,
    );
  },
);

async function targetOf(
  context: CliContext,
  config: Config,
  options: RekeyOptions,
): Promise<RekeyTarget> {
  if (options.plain === true) return { kind: "plain" };
  const key =
    options.newEncryptionKey ?? config.new_encryption_key?.reveal() ?? (await askNewKey(context));
  if (key === "") {
    throw invalid("--new-encryption-key", "is empty; to remove the encryption, use --plain");
  }
  await tellWeakness(context, key);
  return { kind: "encrypted", key, isFirst: options.encrypt === true };
}
