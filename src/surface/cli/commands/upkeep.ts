import { Option } from "commander";
import type { Config } from "../../../config/schema.ts";
import { invalid } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { RebuildInput, RebuildResult } from "../../../engine/organize/api.ts";
import type { RekeyTarget } from "../../../packs/maintenance.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../memories.ts";
import { askNewKey, askToKeep, tellWeakness } from "../new-key.ts";
import {
  configFor,
  countOption,
  encryptionKeyOption,
  MODELS,
  modelOption,
  PACK,
  type PackOptions,
  packCommand,
  packWord,
  withModel,
} from "../options.ts";
import { oneLine, printResult } from "../output.ts";
import { Interrupted, stoppable, stopSignal } from "../signals.ts";
import { confirm, isTerminal } from "../terminal.ts";

export const backupCommand = packCommand(
  {
    name: "backup",
    description: "copy a pack, even while it is in use",
    arguments: [PACK, ["<to>", "the file to make; for a directory pack, the folder"]],
    examples: `
Examples:
  svc backup ./memory.pack /mnt/usb/memory-2026-03-01.pack
  svc backup ./memory ./memory-backup --format json          a directory pack

The pack may be in use: what is written meanwhile is acknowledged as always, and is not in the copy. The copy opens with
the same key. It appears once it is complete and compared with the pack; a file is never overwritten.`,
  },
  (context, path: string, to: string, options: PackOptions) => copyPack(context, path, to, options),
);

/** Copies a pack to a free name or over another pack, and prints the result. @param onOtherPack for the latter, as for `backUpPack` */
export async function copyPack(
  context: CliContext,
  path: string,
  to: string,
  { encryptionKey, format }: PackOptions,
  onOtherPack?: (reason: string) => Promise<void>,
): Promise<void> {
  const { output } = context;
  const config = await configFor(context, path, encryptionKey);
  const isReplacement = onOtherPack !== undefined;
  const bar = await output.progressBar("copying");
  const { backUpPack } = await import("../../../packs/backup-pack.ts");
  const { setAside, ...done } = await stoppable("Interrupted: no copy was made.", (signal) =>
    backUpPack(config, { to, isReplacement, onOtherPack, signal, onProgress: bar.show }),
  ).finally(bar.stop);
  // The pack, whose log has the same name and another suffix, or a log alone.
  printResult(output, format, { ...done, ...(isReplacement && { setAside: setAside.at(-1) }) });
}

export const restoreBackupCommand = packCommand(
  {
    name: "restore-backup",
    description: "put a backup in the place of a pack, which is set aside",
    arguments: [
      ["<backup>", "what svc backup made"],
      ["<pack>", "the pack to replace, or to make"],
    ],
    options: [new Option("--yes", "do not ask before another pack is replaced")],
    examples: `
Examples:
  svc restore-backup /mnt/usb/memory-2026-03-01.pack ./memory.pack

First stop what uses the pack. The backup is checked and copied, and opens with the key that it had. The pack that was there
and its log are set aside under the names that are printed; nothing is deleted. Where it is not the pack of the backup, the
command asks first.`,
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

export const compactCommand = packCommand(
  {
    name: "compact",
    description: "shrink a pack to the size of its content",
    examples: `
Examples:
  svc compact ./memory.pack
  svc compact ./memory --format json

Copies the pack without its free pages and puts the copy in its place. Nothing of the content changes. Refused while
something uses the pack; needs room for the copy. Whatever interrupts it leaves the pack as it was.`,
  },
  async (context, path: string, { encryptionKey, format }: PackOptions) => {
    const config = await configFor(context, path, encryptionKey);
    const stopProgress = await context.output.progress("compacting");
    const { compactPack } = await import("../../../packs/maintenance.ts");
    printResult(context.output, format, await compactPack(config).finally(stopProgress));
  },
);

type RekeyOptions = PackOptions & {
  readonly encrypt?: true;
  readonly plain?: true;
  readonly newEncryptionKey?: string;
};

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
    examples: `
Examples:
  svc rekey ./memory.pack              asks for the new passphrase, twice
  svc rekey ./memory.pack --encrypt    encrypts an unencrypted pack
  svc rekey ./memory.pack --plain      removes its encryption
  SVC_NEW_ENCRYPTION_KEY=… svc rekey ./memory.pack

The present key is found as by every other command. Refused while
something uses the pack; needs room for a copy. Whatever interrupts it leaves the pack with the old key or with the new
one, complete. If you lose the key, you lose the pack. Copies of the pack that were made before keep the old key.`,
  },
  async (context, path: string, options: RekeyOptions) => {
    const config = await configFor(context, path, options.encryptionKey);
    const { importKey, keyStatus } = await import("../../../packs/key-custody.ts");
    const { rekeyPack } = await import("../../../packs/maintenance.ts");
    // Before asking for a passphrase, since it rejects a database or a missing pack.
    const { places } = await keyStatus(config);
    const target = await targetOf(context, config, options);
    const stopProgress = await context.output.progress("copying");
    const done = await rekeyPack(config, target).finally(stopProgress);
    printResult(context.output, options.format, done);
    if (target.kind === "plain") return;
    if (isTerminal() && options.format !== "json" && (await askToKeep())) {
      return context.output.note(`Its key is kept in ${await importKey(config, target.key)}.`);
    }
    if (places.length === 0) return;
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
  const given = options.newEncryptionKey ?? config.new_encryption_key?.reveal();
  if (given === "") {
    throw invalid("--new-encryption-key", "is empty; to remove the encryption, use --plain");
  }
  if (given !== undefined) await tellWeakness(context, given);
  const key = given ?? (await askNewKey(context));
  return { kind: "encrypted", key, isFirst: options.encrypt === true };
}

const LABELS = { vectors: "embedding", texts: "indexing texts" } as const;

type RebuildRun = Pick<RebuildInput, "all" | "batchSize"> & {
  /** The pack as typed. */
  readonly path: string;
  readonly stop: AbortSignal;
};

/** Rebuilds the pack of an engine and shows progress. @throws Interrupted explaining how to continue */
export async function runRebuild(
  { output }: CliContext,
  engine: MemoryEngine,
  { path, stop, all, batchSize }: RebuildRun,
): Promise<RebuildResult> {
  const bar = await output.progressBar("rebuilding");
  const told = `Interrupted; what is done is kept. Continue with: svc rebuild ${packWord(path)}`;
  return await stoppable(
    told,
    (signal) =>
      engine.rebuildIndexes({
        all,
        batchSize,
        signal,
        onProgress: ({ phase, done, total }) => bar.show(done, total, LABELS[phase]),
      }),
    stop,
  ).finally(bar.stop);
}

type RebuildOptions = PackOptions & {
  readonly all?: true;
  readonly batchSize: number;
  /** True: only asked for. */
  readonly model?: string | true;
};

export const rebuildCommand = packCommand(
  {
    name: "rebuild",
    description: "rebuild the indexes of a pack, or give it another embedding model",
    options: [
      new Option("--all", "embed every memory, even if nothing has changed"),
      countOption(
        "--batch-size <count>",
        "memories to embed and write at a time",
        [1, 100_000],
        256,
      ),
      modelOption(true),
    ],
    examples: `
Examples:
  svc rebuild ./memory.pack --model                 the model that it has, and those there are
  svc rebuild ./memory.pack                         when svc doctor says so
  svc rebuild ./memory.pack --model multilingual    change the embedding model
  svc rebuild ./memory.pack --all                   embed every memory again

Other processes may keep using the pack: they answer as before until all is done. When the model has changed, servers find
memories by words once, and load the new model by themselves. Ctrl-C stops after the current batch; running it again goes
on from there.`,
  },
  async (context, path: string, options: RebuildOptions) => {
    const own = await configFor(context, path, options.encryptionKey);
    if (options.model === true) {
      const { reportOnPack } = await import("../../../packs/inspect-pack.ts");
      const { embedding } = (await reportOnPack(own, false)).manifest;
      return context.output.line(
        `The model is ${oneLine(embedding.model)}. To change it, name one: ${MODELS}.`,
      );
    }
    const config = withModel(own, options.model);
    const stop = stopSignal();
    const { all = false, batchSize, format } = options;
    const done = await withEngine(
      context,
      config,
      (engine) => runRebuild(context, engine, { path, stop, all, batchSize }),
      { renewsVectors: true },
    );
    printResult(context.output, format, done);
  },
);
