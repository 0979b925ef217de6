import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { configFor, encryptionKeyOption } from "../options.ts";
import { packCommand } from "../pack-command.ts";
import { Interrupted, stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc export ./memory.pack --output memory.jsonl
  svc export ./memory.pack --with-vectors | gzip > memory.jsonl.gz
  svc export ./memory.pack --format json --output for-other-programs.json

The export is not encrypted: anyone who can read it can read the memories.`;

type ExportOptions = {
  readonly output: string;
  readonly withVectors?: true;
  readonly force?: true;
  readonly encryptionKey?: string;
  readonly format: "jsonl" | "json";
};

/** `svc export`: writes out everything in a pack, while other processes may continue to use it. */
export const exportCommand = packCommand(
  {
    name: "export",
    description: "write out what a pack holds",
    options: [
      new Option("--output <file>", "the file to make; - is standard output").default("-"),
      new Option("--with-vectors", "include the vectors, so that an import need not embed"),
      new Option("--force", "replace an existing file"),
      encryptionKeyOption(),
      new Option("--format <form>", "jsonl can be imported; json is for other programs")
        .choices(["jsonl", "json"])
        .default("jsonl"),
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, options: ExportOptions) => {
    const { output } = context;
    const { format: form, withVectors = false, force = false } = options;
    if (withVectors && form === "json") throw invalid("with-vectors", "is for --format jsonl only");
    if (options.output === "")
      throw invalid("output", "is empty; name a file, or - for standard output");
    const config = await configFor(context, path, options.encryptionKey);
    const signal = stopSignal();
    const file = options.output === "-" ? undefined : options.output;
    const stopProgress = await output.progress("exporting");
    try {
      const { exportPack } = await import("../../../packs/export-pack.ts");
      const exported = await exportPack(config, {
        form,
        withVectors,
        force,
        output: file,
        write: (text) => output.piece(text),
        signal,
      });
      const { path: made, bytes } = exported;
      stopProgress();
      if (made !== undefined) output.line(`Exported ${bytes} bytes to ${made}`);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Interrupted("Interrupted; the export is not complete.");
    } finally {
      stopProgress();
    }
  },
);
