import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { type Command, Option } from "commander";
import { pathArgument } from "../../../config/path.ts";
import { invalid } from "../../../domain/errors.ts";
import type { ForgetAnswer, ForgetInput } from "../../../engine/forget/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { doubledName } from "../../../lib/json.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import { counted } from "../../contract/core/tool-text.ts";
import { forgetView, verificationView } from "../../contract/forget.ts";
import type { CliContext } from "../context.ts";
import { ACTOR, findMemory, type MemoryOptions, withMemories, withPack } from "../memories.ts";
import { ownerOption, PACK, type PackOptions, packCommand } from "../options.ts";
import { type Output, oneLine, shortened, table } from "../output.ts";

const VERIFY_EXAMPLES = `
Examples:
  svc forget verify ./memory.pack forget-0198a2b4.json
  echo -n "the forgotten text" | svc forget verify ./memory.pack forget-0198a2b4.json --text -

With the text it also checks that the receipt is about it, and that it is nowhere in the pack.`;

const EXCERPT_CHARS = 60;

type ForgetOptions = MemoryOptions & {
  readonly session?: string;
  readonly query?: string;
  readonly keepDerived?: true;
  readonly receipt?: string;
  readonly yes?: true;
};
type VerifyOptions = PackOptions & { readonly text?: string };

const build = packCommand(
  {
    name: "forget",
    description: "erase memories for good, with a receipt; shows them first",
    arguments: [PACK, ["[id...]", "of memories (a start or end is enough) or events"]],
    options: [
      ownerOption(),
      new Option("--session <id>", "all that was said in this conversation"),
      new Option("--query <text>", "all memories whose text contains this, in whatever case"),
      new Option("--keep-derived", "keep memories that rest on other messages, too"),
      new Option(
        "--receipt <file>",
        "a new file for the receipt, which only you can read (default: forget-<id>.json here)",
      ),
      new Option("--yes", "erase what the preview shows"),
    ],
    examples: `
Examples:
  svc forget ./memory.pack 0198a2b4                       shows what would be erased; changes nothing
  svc forget ./memory.pack 0198a2b4 --yes                 erases it and writes a receipt
  svc forget ./memory.pack --session monday --yes         all that was said in a conversation
  svc forget ./memory.pack --query "Lisbon"               every memory whose text contains it
  svc forget verify ./memory.pack forget-0198a2b4.json    checks a receipt against the pack

What was forgotten is gone from the pack for ever; its place in the log stays. Backups, exports and copies made before still have
it. To only stop finding a memory: svc archive.`,
  },
  (context, path: string, ids: readonly string[], options: ForgetOptions) =>
    withMemories(context, path, options, (engine, userId) =>
      run(context.output, engine, { userId, ids, options }),
    ),
);

const buildVerify = packCommand(
  {
    name: "verify",
    description: "check a receipt of forgetting against a pack",
    arguments: [PACK, ["<receipt>", "the file that svc forget wrote"]],
    options: [new Option("--text <text>", "a text that was forgotten; - reads it from stdin")],
    examples: VERIFY_EXAMPLES,
  },
  (context, path: string, file: string, options: VerifyOptions) =>
    withPack(context, path, options, (engine) => verify(context, engine, file, options)),
);

/** `svc forget`: erases memories, and proves it. */
export function forgetCommand(context: CliContext): Command {
  return build(context).addCommand(buildVerify(context));
}

async function run(
  output: Output,
  engine: MemoryEngine,
  {
    userId,
    ids: given,
    options,
  }: { readonly userId: string; readonly ids: readonly string[]; readonly options: ForgetOptions },
): Promise<void> {
  const { session: sessionId, query: containing, keepDerived, yes, format } = options;
  const ids: string[] = [];
  for (const id of given) ids.push(parseUuid(id) ?? (await findMemory(engine, userId, id)).id);
  const input = { userId, ids, sessionId, containing, keepDerived, actorId: ACTOR };
  const preview = await engine.forget(input);
  if (yes !== true || preview.confirm === undefined) {
    if (format === "json") return output.json(forgetView.json(preview));
    for (const line of previewLines(preview)) output.line(line);
    if (preview.confirm !== undefined) output.note("Nothing was changed. With --yes it is erased.");
    return;
  }
  const answer = await erase(engine, { ...input, confirm: preview.confirm }, options.receipt);
  if (format === "json") return output.json(forgetView.json(answer.answer));
  const { memories, events } = answer.answer;
  const stage = answer.answer.stage;
  const what = [
    counted(memories.length, "memory", "memories"),
    counted(events.length, "event", "events"),
  ];
  output.line(`Forgotten: ${what.join(", ")} (${answer.answer.forgetId})`);
  output.line(
    stage === "physical"
      ? "Their bytes are gone."
      : "The bytes are still there: another process is reading, or the user of the database may not vacuum its tables. The next opening tries again.",
  );
  output.line(`Receipt: ${answer.file}`);
  output.note(`Not reached: ${answer.answer.notReached.join("; ")}.`);
}

/** The file of the receipt is made first: without it the proof would be lost. */
async function erase(
  engine: MemoryEngine,
  input: ForgetInput & { readonly confirm: string },
  wanted: string | undefined,
): Promise<{ readonly answer: ForgetAnswer; readonly file: string }> {
  const file = pathArgument("--receipt", wanted ?? `forget-${input.confirm.slice(0, 12)}.json`);
  const descriptor = openNew(file);
  try {
    const answer = await engine.forget({ ...input, mode: "erase" });
    writeSync(descriptor, `${JSON.stringify(answer.receipt, undefined, 2)}\n`);
    return { answer, file };
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
  const pictures = blobs === 0 ? "" : `, ${counted(blobs, "picture", "pictures")}`;
  return [
    ...before,
    "Would be erased:",
    ...table(
      ["ID", "WHAT", "WHY", "TEXT"],
      [
        ...memories.map(({ id, nodeType, why, excerpt }) => [
          id,
          nodeType,
          why,
          shortened(excerpt, EXCERPT_CHARS),
        ]),
        ...events.map(({ id, excerpt }) => [id, "event", "", shortened(excerpt, EXCERPT_CHARS)]),
      ],
    ),
    `and ${counted(edges, "edge", "edges")}, the texts of ${counted(operations, "entry", "entries")} of the log, ${counted(receipts, "receipt", "receipts")} of answers${pictures}`,
    ...(stays.length === 0
      ? []
      : [
          "Stays:",
          ...table(
            ["ID", "WHAT", "WHY", "TEXT"],
            stays.map(({ id, kind, why, excerpt }) => [
              id,
              kind,
              why,
              shortened(excerpt, EXCERPT_CHARS),
            ]),
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
  // Others may read the first of two members, where the last one was signed.
  const doubled = doubledName(text);
  if (doubled === undefined) return receipt;
  throw invalid("receipt", `${oneLine(file)} has "${oneLine(doubled)}" twice in one object`);
}
