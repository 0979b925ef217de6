/**
 * The whole check, as `npm test` and `bun run check` run it: lockfile, format, lint, types, layers, sizes, docs, native
 * libraries, build, tests.
 * Each step is printed with its seconds, a failed one with its output; the run goes on, so that one run shows all. The steps run at
 * the same time; the tests begin once the program is built, and tell every 15 seconds how far they are, and a failed one at once.
 * The last line is `N passed, N failed, N skipped`: tests, plus one for each step before them.
 * Exit code 0 when nothing failed and at least one test ran, else 1.
 */
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { makeMemoryFolder } from "./check/memory-folder.ts";
import { startPostgres } from "./check/postgres.ts";
import { Progress } from "./check/progress.ts";
import { removeTree } from "./check/remove-tree.ts";
import { type Outcome, runStep } from "./check/run.ts";
import { buildStep, pythonStep, type Step, stepsBesideTests, testsIn } from "./check/steps.ts";
import { addTallies, closingLine, readPytestTally, readTally, type Tally } from "./check/tally.ts";

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

/** Takes a step, prints how it ended and counts it, by what it printed if that has counts. */
async function take(step: Step, countsOf: typeof readTally = countOf): Promise<Tally> {
  const reason = await step.leaveOut?.();
  if (reason !== undefined) {
    await print(`skip ${step.name}: ${reason}\n`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const outcome = await runStep(step, root);
  const shown = outcome.ok ? "" : `${outcome.output.trimEnd()}\n\n`;
  await print(`${report(step.name, outcome)}${shown}`);
  return countsOf(outcome.output, outcome.ok ? 0 : 1);
}

function countOf(_output: string, exitCode: number | undefined): Tally {
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
}

async function runTests(): Promise<Tally> {
  const memory = makeMemoryFolder();
  const databases = await startPostgres(root, memory);
  const step = testsIn({
    root,
    memory,
    disk: tmpdir(),
    databases: typeof databases === "string" ? { lacking: databases } : databases,
    // Much of the time is spent waiting, for processes above all.
    processes: Math.min(8, 2 * Math.max(2, availableParallelism())),
  });
  const progress = new Progress();
  const outcome = await runStep(step, root, (text) => {
    const line = progress.read(text, performance.now());
    if (line !== undefined) void print(`${line}\n`);
  });
  if (typeof databases !== "string") await databases.stop();
  if (memory !== undefined) removeTree(memory);
  const lines = outcome.output.trimEnd();
  const shown = outcome.ok
    ? lines.split("\n").slice(-1).join("\n")
    : withoutPasses(lines).trimEnd();
  await print(`${report(step.name, outcome)}${shown}\n`);
  return readTally(outcome.output, outcome.exitCode);
}

const beside = Promise.all(stepsBesideTests(root).map((step) => take(step)));
const built = await take(buildStep);
const python = take(pythonStep, readPytestTally);
const tally = [built, await runTests(), await python, ...(await beside)].reduce(addTallies);
await print(`${closingLine(tally)}\n`);
process.exit(tally.failed === 0 ? 0 : 1);
