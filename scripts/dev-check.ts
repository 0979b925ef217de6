/**
 * The fast check of a change: `bun run dev:check`. Looks at the files that differ from `main` and at the new ones: format and lint
 * of these, types and layers of everything with what the last run found, sizes, and the tests that load a changed file, the
 * nearest first, for about ten seconds. It names the tests that it leaves out; `bun run check` runs everything.
 * Exit code 0 when nothing failed.
 */
import { join } from "node:path";
import { affectedTests, changedFiles } from "./check/affected-tests.ts";
import { runStep } from "./check/run.ts";
import { formatStep, layersStep, type Step, sizesStep, typesStep } from "./check/steps.ts";

const root = join(import.meta.dir, "..");
const CACHE = "node_modules/.cache";
/** Of one process; two run at the same time. */
const TESTS_MS = 6_000;
const LEFT_OUT_SHOWN = 8;

const started = performance.now();
const changed = changedFiles(root);
const sources = changed.filter((path) =>
  /^(src|clients|test|scripts)\/.*\.(tsx?|css|json|cjs)$/.test(path),
);
const { files: timings }: { readonly files: Readonly<Record<string, number>> } = await Bun.file(
  join(root, "scripts/config/test-timings.json"),
).json();
const { run, leftOut } = affectedTests({ root, changed, timings, budgetMs: TESTS_MS });

const steps: readonly Step[] = [
  ...(sources.length > 0 ? [formatStep(sources)] : []),
  // What the whole check has found about types is used as well.
  typesStep(["--singleThreaded"]),
  layersStep(["--cache", `${CACHE}/layers`]),
  sizesStep(root),
  ...(run.length > 0
    ? [
        {
          name: `tests in ${run.length} files`,
          limitMinutes: 2,
          command: [
            process.execPath,
            "test",
            "--parallel=2",
            "--no-isolate",
            "--timeout=120000",
            ...run.map((path) => `./${path}`),
          ],
        },
      ]
    : []),
];

console.log(`${changed.length} changed files`);
const results = await Promise.all(
  steps.map(async (step) => {
    const { ok, seconds, output } = await runStep(step, root);
    console.log(`${ok ? "ok  " : "FAIL"} ${step.name} (${seconds.toFixed(1)} s)`);
    if (!ok) console.log(output.replace(/^\(pass\) .*\n/gm, "").trimEnd());
    return ok;
  }),
);
if (leftOut.length > 0) {
  const more =
    leftOut.length > LEFT_OUT_SHOWN ? `, and ${leftOut.length - LEFT_OUT_SHOWN} more` : "";
  console.log(
    `left out for the time: ${leftOut.length} test files that load a changed file: ${leftOut.slice(0, LEFT_OUT_SHOWN).join(" ")}${more}`,
  );
}
console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
process.exit(results.every((ok) => ok) ? 0 : 1);
