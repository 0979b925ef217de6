import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { type Command, Option } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { invalid } from "../../../domain/errors.ts";
import type { ForgetAnswer } from "../../../engine/forget/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { doubledName } from "../../../lib/json.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import type { Asked } from "../../contract/core/operation.ts";
import { counted } from "../../contract/core/tool-text.ts";
import { forgetOperation, verificationView } from "../../contract/forget.ts";
import type { CliContext } from "../context.ts";
import { type Desk, memoryCommand, withEngine } from "../memories.ts";
import { configFor, PACK, type PackOptions, packCommand } from "../options.ts";
import { oneLine, shortIds, table } from "../output.ts";
import { confirm as agrees, isTerminal } from "../terminal.ts";

const VERIFY_EXAMPLES = `
Examples:
  svc forget verify forget-0198a2b4.json
  echo -n "the forgotten text" | svc forget verify forget-0198a2b4.json --text -

With the text it also checks that the receipt is about it, and that it is nowhere in the pack.`;

type ForgetOptions = { readonly receipt?: string; readonly yes?: true };
type VerifyOptions = PackOptions & { readonly text?: string };

const build = memoryCommand<ForgetOptions, [readonly string[]]>(
  {
    name: "forget",
    description: "erase memories permanently, with a receipt; shows them first",
    words: [["[id...]", "of memories (an end or start is enough) or events"]],
    of: forgetOperation,
    members: {
      session: ["session_id", "all that was said in this conversation"],
      query: ["containing", "all memories whose text contains this, in whatever case"],
      "keep-derived": ["keep_derived", "keep memories that rest on other messages, too"],
    },
    options: [
      new Option(
        "--receipt <file>",
        "a new file for the receipt, which only you can read (default: forget-<id>.json here)",
      ),
      new Option("--yes", "erase what the preview shows"),
    ],
    examples: `
Examples:
  svc forget 3f9a1c                       shows what would be erased, and asks on a terminal
  svc forget 3f9a1c --yes                 erases it without a question
  svc forget --session monday --yes       all that was said in a conversation
  svc forget --query "Lisbon"             every memory whose text contains it
  svc forget verify forget-0198a2b4.json  checks a receipt against the pack

What was forgotten is permanently gone from the pack; its place in the log stays. Backups, exports and copies made before still have
it. To only stop finding a memory: svc archive.`,
  },
  run,
);

const buildVerify = packCommand(
  {
    name: "verify",
    description: "check a receipt of forgetting against a pack",
    arguments: [PACK, ["<receipt>", "the file that svc forget wrote"]],
    options: [new Option("--text <text>", "a text that was forgotten; - reads it from stdin")],
    examples: VERIFY_EXAMPLES,
  },
  async (context, path: string, file: string, options: VerifyOptions) => {
    const config = await configFor(context, path, options.encryptionKey);
    await withEngine(context, config, (engine) => verify(context, engine, file, options));
  },
);

export function forgetCommand(context: CliContext): Command {
  return build(context).addCommand(buildVerify(context));
}

async function run(desk: Desk<ForgetOptions>, given: readonly string[]): Promise<void> {
  const { output, options, ask } = desk;
  const ids: string[] = [];
  for (const id of given) ids.push(parseUuid(id) ?? (await desk.find(id)).id);
  const asked = { ...desk.given, ids };
  const { output: preview, json } = await ask(forgetOperation, asked);
  const { confirm } = preview;
  const isPerson = isTerminal() && options.format !== "json";
  if (options.yes !== true || confirm === undefined) {
    desk.tell(json, () => previewLines(preview));
    if (options.format === "json" || confirm === undefined) return;
    if (!isPerson || !(await agrees("Erase this for ever?", false))) {
      return output.note(
        `Nothing was changed. ${isPerson ? "T" : "With --yes it is erased; t"}o only stop finding it: svc archive.`,
      );
    }
  }
  const erased = { ...asked, confirm, mode: "erase" };
  const { file, done } = await intoFile(options.receipt, confirm, () =>
    ask(forgetOperation, erased),
  );
  const { memories, events, stage, forgetId, notReached } = done.output;
  const what = [
    counted(memories.length, "memory", "memories"),
    counted(events.length, "event", "events"),
  ];
  desk.tell(done.json, () => [
    `Forgotten: ${what.join(", ")} (${forgetId})`,
    stage === "physical"
      ? "Their bytes are gone."
      : "The bytes are still there: another process is reading, or the user of the database may not vacuum its tables. The next opening tries again.",
    `Receipt: ${file}`,
  ]);
  if (options.format !== "json") output.note(`Not reached: ${notReached.join("; ")}.`);
}

/** The file for the receipt is created first: without it the proof would be lost. */
async function intoFile(
  wanted: string | undefined,
  confirm: string,
  erase: () => Promise<Asked<ForgetAnswer>>,
): Promise<{ readonly done: Asked<ForgetAnswer>; readonly file: string }> {
  const file = pathArgument("--receipt", wanted ?? `forget-${confirm.slice(0, 12)}.json`);
  const descriptor = openNew(file);
  try {
    const done = await erase();
    writeSync(descriptor, `${JSON.stringify(done.output.receipt, undefined, 2)}\n`);
    return { done, file };
  } catch (error) {
    unlinkSync(file);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** @throws SvcError invalid_argument */
function openNew(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "";
    throw invalid(
      "--receipt",
      why === "EEXIST"
        ? `${oneLine(file)} exists already; nothing was erased`
        : `${oneLine(file)} cannot be made (${why}); nothing was erased`,
    );
  }
}

function previewLines({
  memories,
  events,
  stays,
  counts,
  confirm,
  forgottenBefore,
}: ForgetAnswer): readonly string[] {
  const before = forgottenBefore.map((id) => `Forgotten before: ${id}`);
  if (confirm === undefined) return [...before, "There is nothing to forget."];
  const { edges, operations, receipts, blobs } = counts;
  const name = shortIds([...memories, ...events, ...stays].map(({ id }) => id));
  const pictures = blobs === 0 ? "" : `, ${counted(blobs, "picture", "pictures")}`;
  return [
    ...before,
    "Would be erased:",
    ...table(
      ["TEXT", "WHAT", "WHY", "ID"],
      [
        ...memories.map(({ id, nodeType, why, excerpt }) => [excerpt, nodeType, why, name(id)]),
        ...events.map(({ id, excerpt }) => [excerpt, "event", "", name(id)]),
      ].map(([text = "", ...rest]) => [oneLine(text), ...rest]),
      true,
    ),
    `and ${counted(edges, "edge", "edges")}, the texts of ${counted(operations, "entry", "entries")} of the log, ${counted(receipts, "receipt", "receipts")} of answers${pictures}`,
    ...(stays.length === 0
      ? []
      : [
          "Stays:",
          ...table(
            ["TEXT", "WHAT", "WHY", "ID"],
            stays.map(({ id, kind, why, excerpt }) => [oneLine(excerpt), kind, why, name(id)]),
            true,
          ),
        ]),
  ];
}

async function verify(
  context: CliContext,
  engine: MemoryEngine,
  file: string,
  { text, format }: VerifyOptions,
): Promise<void> {
  const { output } = context;
  const typed = text === "-" ? readFileSync(0, "utf8").replace(/\r?\n$/, "") : text;
  const result = await engine.verifyForgetting(readReceipt(file), typed);
  if (!result.ok) context.fail();
  if (format === "json") return output.json(verificationView.json(result));
  for (const { name, ok, detail } of result.checks) {
    output.line(`${ok ? "ok   " : "FAILS"} ${name}: ${oneLine(detail)}`);
  }
}

/** @throws SvcError invalid_argument */
function readReceipt(named: string): unknown {
  const file = pathArgument("receipt", named);
  let text: string;
  let receipt: unknown;
  try {
    text = readFileSync(file, "utf8");
    receipt = JSON.parse(text);
  } catch {
    throw invalid("receipt", `${oneLine(file)} cannot be read as JSON`);
  }
  // Other readers may use the first of two equal members; the last one was signed.
  const doubled = doubledName(text);
  if (doubled === undefined) return receipt;
  throw invalid("receipt", `${oneLine(file)} has "${oneLine(doubled)}" twice in one object`);
}
