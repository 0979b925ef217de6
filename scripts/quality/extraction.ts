/**
 * Measures what is believed of what a language model says that conversations state: `bun scripts/quality/extraction.ts [--json FILE]
 * [--show]`. Without more, the model is scripted: it says everything right, and every mistake of `extraction-flaws.ts`.
 *
 *     bun scripts/quality/extraction.ts --provider ollama --model qwen3:8b [--base-url URL] [--limit CONVERSATIONS]
 *     OPENAI_API_KEY=... bun scripts/quality/extraction.ts --provider openai --model gpt-4o-mini
 *
 * asks a real one about the same conversations, through the whole pipeline and into a pack that is removed afterwards. --show lists what went wrong. Prints tables in Markdown. A real
 * model words predicates as it likes, so for it a claim counts as right if subject, object and polarity are those of the set.
 */
import { parseArgs } from "node:util";
import {
  LANGUAGE_MODEL_PROVIDERS,
  type LanguageModelProvider,
} from "../../src/adapters/language-model/create-language-model.ts";
import { FLAWS } from "./extraction-flaws.ts";
import { askAbout, type Measured } from "./extraction-model.ts";
import { judge, processorMsPerTurn, type Verdict } from "./extraction-score.ts";
import {
  type Conversation,
  readConversations,
  readFifthSet,
  readFourthSet,
  readSecondSet,
  readSixthSet,
  readThirdSet,
} from "./extraction-set.ts";

const { values: flags } = parseArgs({
  options: {
    provider: { type: "string" },
    model: { type: "string" },
    "base-url": { type: "string" },
    limit: { type: "string" },
    json: { type: "string" },
    show: { type: "boolean", default: false },
  },
});

const SETS: readonly (readonly [string, readonly Conversation[]])[] = [
  ["first", readConversations()],
  ["second", readSecondSet()],
  ["third", readThirdSet()],
  ["fourth", readFourthSet()],
  ["fifth", readFifthSet()],
  ["sixth", readSixthSet()],
];

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function measureScripted(): object {
  return Object.fromEntries(
    SETS.map(([name, conversations]) => {
      const verdicts = conversations.flatMap((one) => judge(one, conversations));
      return [name, reportOf(name, conversations, verdicts)];
    }),
  );
}

function reportOf(
  name: string,
  conversations: readonly Conversation[],
  verdicts: readonly Verdict[],
): object {
  const turns = conversations.flatMap((one) => one.turns).length;
  const right = verdicts.filter(({ planted }) => planted.flaw === undefined);
  const wrong = verdicts.filter(({ planted }) => planted.flaw !== undefined);
  const kept = (some: readonly Verdict[]) => some.filter(({ isKept }) => isKept).length;
  print(`\n${name}: ${conversations.length} conversations, ${turns} turns\n`);
  print("| planted | claims | kept | share |\n|---|---|---|---|");
  const replacing = right.filter(({ planted }) => planted.claim.replacesObject !== null);
  const lines = [
    ["right", right] as const,
    ["wrong", wrong] as const,
    ...FLAWS.map((flaw) => [flaw, wrong.filter(({ planted }) => planted.flaw === flaw)] as const),
  ];
  for (const [what, some] of lines) {
    print(`| ${what} | ${some.length} | ${kept(some)} | ${percent(kept(some), some.length)} |`);
  }
  const replaced = replacing.filter(({ hasReplaced }) => hasReplaced).length;
  print(
    `| right, and retires what it replaces | ${replacing.length} | ${replaced} | ${percent(replaced, replacing.length)} |`,
  );
  print(
    `\nReading and checking a turn: ${processorMsPerTurn(conversations).toFixed(2)} ms of processor time`,
  );
  if (flags.show) for (const verdict of verdicts) show(verdict);
  return Object.fromEntries(
    lines.map(([what, some]) => [what, { claims: some.length, kept: kept(some) }]),
  );
}

function show({ conversation, planted, isKept, reasons }: Verdict): void {
  if (isKept === (planted.flaw === undefined)) return;
  const { subject, predicate, object, quote } = planted.claim;
  print(
    `- ${planted.flaw ?? "right"}, ${conversation}: ${subject} | ${predicate} | ${object} of "${quote}" ${reasons.join(", ")}`,
  );
}

async function measureModel(provider: LanguageModelProvider, model: string): Promise<object> {
  const apiKey = process.env[`${provider.toUpperCase()}_API_KEY`];
  const all = SETS.flatMap(([, conversations]) => conversations);
  const some = all.slice(0, Number(flags.limit ?? all.length));
  const measured = await askAbout({ provider, model, apiKey, baseUrl: flags["base-url"] }, some);
  printMeasured(measured);
  return measured;
}

function printMeasured({ wrongClaims, ...measured }: Measured): void {
  print("\n| measure | value |\n|---|---|");
  print(`| precision | ${percent(measured.right, measured.kept)} |`);
  print(`| recall | ${percent(measured.found, measured.expected)} |`);
  print(
    `| junk: kept and not in the set | ${measured.kept - measured.right} of ${measured.kept} |`,
  );
  print(`| wrong retirements | ${measured.wrongRetirements} |`);
  print(`| wrong owner | ${measured.wrongOwner} |`);
  print(`| dropped by the checks | ${JSON.stringify(measured.drops)} |`);
  print(`| tokens a turn, in and out | ${(measured.tokens / measured.turns).toFixed(0)} |`);
  print(`| calls a turn | ${(measured.calls / measured.turns).toFixed(3)} |`);
  print(`| turns without an answer | ${measured.failedTurns} of ${measured.turns} |`);
  if (flags.show) for (const claim of wrongClaims) print(`- ${claim}`);
}

const provider = LANGUAGE_MODEL_PROVIDERS.find((known) => known === flags.provider);
if (flags.provider !== undefined && (provider === undefined || flags.model === undefined)) {
  throw new Error(`--provider is one of ${LANGUAGE_MODEL_PROVIDERS.join(", ")}, with --model`);
}
const report =
  provider === undefined || flags.model === undefined
    ? measureScripted()
    : await measureModel(provider, flags.model);
if (flags.json !== undefined) await Bun.write(flags.json, JSON.stringify(report, null, 2));
