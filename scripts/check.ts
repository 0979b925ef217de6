/**
 * The whole check, as `npm test` and `bun run check` run it: lockfile, format, lint, types, layers, docs, native
 * libraries, build, tests.
 * Each step is printed with its seconds, a failed one with its output; the run goes on, so that one run shows all. The
 * tests tell every 15 seconds how far they are, and a failed one at once.
 * The last line is `N passed, N failed, N skipped`: tests, plus one for each step before them.
 * Exit code 0 when nothing failed and at least one test ran, else 1.
 */
import { join } from "node:path";
import { Progress } from "./check/progress.ts";
import { type Outcome, runStep } from "./check/run.ts";
import { stepsBeforeTests, TESTS } from "./check/steps.ts";
import { addTallies, closingLine, readTally, type Tally } from "./check/tally.ts";

const root = join(import.meta.dir, "..");

async function print(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text);
}

function report(name: string, outcome: Outcome): string {
  return `${outcome.ok ? "ok  " : "FAIL"} ${name} (${outcome.seconds.toFixed(1)} s)\n`;
}

/** The files, failures and summary of a test report; the lines of passed tests are left out. */
function withoutPasses(output: string): string {
  return output.replace(/^\(pass\) .*\n/gm, "").replace(/\n{3,}/g, "\n\n");
}

let tally: Tally = { passed: 0, failed: 0, skipped: 0 };
for (const step of stepsBeforeTests(root)) {
  const reason = await step.leaveOut?.();
  if (reason !== undefined) {
    await print(`skip ${step.name}: ${reason}\n`);
    tally = addTallies(tally, { passed: 0, failed: 0, skipped: 1 });
    continue;
  }
  const outcome = await runStep(step, root);
  await print(report(step.name, outcome));
  if (!outcome.ok) await print(`${outcome.output.trimEnd()}\n\n`);
  tally = addTallies(tally, {
    passed: outcome.ok ? 1 : 0,
    failed: outcome.ok ? 0 : 1,
    skipped: 0,
  });
}

const progress = new Progress();
const tests = await runStep(TESTS, root, (text) => {
  const line = progress.read(text, performance.now());
  if (line !== undefined) void print(`${line}\n`);
});
const lines = tests.output.trimEnd();
const shown = tests.ok ? lines.split("\n").slice(-1).join("\n") : withoutPasses(lines).trimEnd();
await print(`${report(TESTS.name, tests)}${shown}\n`);
tally = addTallies(tally, readTally(tests.output, tests.exitCode));

await print(`${closingLine(tally)}\n`);
process.exit(tally.failed === 0 ? 0 : 1);
