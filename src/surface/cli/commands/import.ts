import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { Option } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { SCOPES, type Scope } from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import {
  type ImportInput,
  type ImportReport,
  importReportForm,
} from "../../../engine/import/api.ts";
import type { CliContext } from "../context.ts";
import { ownerFor, withEngine } from "../memories.ts";
import { momentOf } from "../moments.ts";
import { type KeyOptions, plainOption } from "../new-key.ts";
import {
  choiceOption,
  configFor,
  onePack,
  ownerOption,
  PACK_ARGUMENT,
  type PackOptions,
  packCommand,
  packInPlace,
  packOption,
  packWord,
  wholeNumber,
} from "../options.ts";
import { printAnswer, printResult, shortened } from "../output.ts";
import { stoppable } from "../signals.ts";

type ImportOptions = PackOptions &
  KeyOptions & {
    readonly from: string;
    readonly dbPath?: string;
    readonly userId?: string;
    readonly since?: string;
    readonly scope?: Scope;
    readonly tools?: true;
    readonly branches: "shown" | "all";
    readonly timezone?: string;
    readonly again?: true;
    readonly dryRun?: true;
    readonly sample?: number;
    readonly undo?: string;
  };

export const importCommand = packCommand(
  {
    name: "import",
    description: "bring in what another program keeps, or make a pack from an export of svc export",
    arguments: [
      ["[source]", "a file or folder; - is an export on standard input"],
      ["[pack]", `${PACK_ARGUMENT}; for an export of svc export the pack to make`],
    ],
    options: [
      new Option("--from <kind>", "what the source is (default: what its content says)").default(
        "auto",
      ),
      packOption(),
      ownerOption(),
      new Option("--dry-run", "show what would be imported, and write nothing"),
      new Option("--sample <count>", "records to show").argParser(wholeNumber(0, 100)),
      new Option("--since <time>", "leave out what is older"),
      choiceOption("--scope <scope>", "where it belongs (default: what the source says)", SCOPES),
      new Option("--tools", "take outputs of tools, too"),
      new Option("--branches <which>", "answers that others replaced, too")
        .choices(["shown", "all"])
        .default("shown"),
      new Option("--timezone <offset>", "of times without one, such as +02:00 (default: local)"),
      new Option("--again", "take what was forgotten, too"),
      new Option("--undo <id>", "take an import back as a whole"),
      plainOption(),
    ],
    examples: `
Examples:
  svc import ~/Downloads/chatgpt.zip --dry-run        what it is, and what would come in
  svc import ~/Downloads/chatgpt.zip                  once, or again for what is new
  svc import ~/notes ./memory.pack --scope project
  svc import --undo 0198a2b4-...                      takes an import back as a whole
  svc import memory.jsonl ./restored.pack             a new pack from an export of svc export
  gunzip -c memory.jsonl.gz | svc import - ./restored.pack

The content decides what a source is, never its name. Nothing is written to it. A second import brings in what is new; a changed text
replaces the earlier one, and what was forgotten stays forgotten. What another system made up is never stored as your word; answers of
assistants are found only if asked for (--retrieval-mode explicit).`,
  },
  async (
    context,
    source: string | undefined,
    named: string | undefined,
    options: ImportOptions,
  ): Promise<void> => {
    const pack = onePack(named, options.dbPath);
    if (options.undo !== undefined) return await undo(context, pack ?? source, options);
    if (source === undefined) throw invalid("source", "is missing; name a file or a folder");
    if (isOwnExport(source, pack)) {
      if (pack === undefined)
        throw invalid("pack", "missing required argument; name the pack to make");
      const { importExport } = await import("./transfer.ts");
      return await importExport(context, source, pack, options);
    }
    await bringIn(context, source, pack ?? (await packInPlace(context)), options);
  },
);

const HEAD_BYTES = 256;

/** Whether a file is an export of a pack, or is to become a new pack and no export of another program. */
function isOwnExport(source: string, pack: string | undefined): boolean {
  if (source === "-") return true;
  const isMissing = pack !== undefined && !isDatabaseUrl(pack) && !existsSync(pack);
  const head = headOf(pathArgument("source", source));
  if (head === undefined) return isMissing && !existsSync(source);
  return /^\ufeff?\{"record":/.test(head) || (isMissing && !/^\ufeff?\s*\[/.test(head));
}

/** Undefined for a folder, an archive, and what is missing. */
function headOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return undefined;
  const file = openSync(path, "r");
  try {
    const bytes = new Uint8Array(HEAD_BYTES);
    const head = Buffer.from(bytes.subarray(0, readSync(file, bytes))).toString("utf8");
    return head.startsWith("PK\u0003\u0004") ? undefined : head;
  } finally {
    closeSync(file);
  }
}

async function bringIn(
  context: CliContext,
  source: string,
  path: string,
  options: ImportOptions,
): Promise<void> {
  const { output } = context;
  const { from, tools, branches, again, scope, dryRun = false } = options;
  const since = await momentOf(options.since, "--since");
  const offsetMinutes = minutesOf(options.timezone);
  const sample = options.sample ?? (dryRun ? 5 : 0);
  const config = await configFor(context, path, options.encryptionKey);
  const report = await withEngine(context, config, async (engine) => {
    const isStoring = !dryRun;
    const userId = await ownerFor(context, engine, { given: options.userId, path, isStoring });
    const bar = await output.progressBar("reading");
    const onProgress: ImportInput["onProgress"] = (stage, done, total) =>
      bar.show(done, total, stage);
    const told = "Interrupted; what was admitted stays. The same command goes on.";
    return await stoppable(told, (signal) =>
      engine.importSource({
        ...{ source: pathArgument("source", source), userId, from, tools, branches, again, scope },
        ...{ since, offsetMinutes, dryRun, sample, signal, onProgress },
      }),
    ).finally(bar.stop);
  });
  if (report.unreadableCount > 0) context.fail();
  if (options.format === "json") return output.json(importReportForm.json(report));
  printAnswer(output, "table", shownReport(report));
  const isForgotten = Object.values(report.records).some(({ forgotten }) => forgotten > 0);
  output.note(
    dryRun
      ? "Nothing was written."
      : report.importId === undefined
        ? `Nothing new.${isForgotten ? " What was forgotten comes in with --again." : ""}`
        : `All of it can be found by words; vectors follow in the background. To take it back: svc import --undo ${report.importId} ${packWord(path)}`,
  );
}

/** Minutes east of UTC. @throws SvcError invalid_argument */
function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(?:(Z|UTC)|([+-])(\d{2}):?(\d{2}))$/i.exec(text.trim());
  if (match === null) throw invalid("--timezone", "is no offset, such as +02:00");
  if (match[1] !== undefined) return 0;
  const minutes = Number(match[3]) * 60 + Number(match[4]);
  return match[2] === "-" ? -minutes : minutes;
}

const SAMPLE_CHARS = 70;

/** The report with its counts as rows, and without what is nothing. */
function shownReport(report: ImportReport): object {
  const { records, samples, ...json } = Object(importReportForm.json(report));
  const told = Object.entries(json).filter(([, value]) => !isNothing(value));
  return {
    ...Object.fromEntries(told),
    records: Object.entries(records).map(([voice, counts]) => ({ voice, ...Object(counts) })),
    samples: report.samples.map(({ voice, event_time: time, content }) => ({
      voice,
      time: String(time ?? "").slice(0, 10),
      text: shortened(String(content), SAMPLE_CHARS),
    })),
  };
}

function isNothing(value: unknown): boolean {
  if (typeof value === "object") return Object.keys(value ?? {}).length === 0;
  return value === 0 || value === false;
}

async function undo(
  context: CliContext,
  pack: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const path = pack ?? (await packInPlace(context));
  const config = await configFor(context, path, options.encryptionKey);
  const undone = await withEngine(context, config, async (engine) => {
    const about = { given: options.userId, path, isStoring: false };
    const userId = await ownerFor(context, engine, about);
    const stop = await context.output.progress("erasing");
    return await engine.undoImport(userId, options.undo ?? "").finally(stop);
  });
  printResult(context.output, options.format, undone);
}
