/**
 * Checks the server against the official conformance suite: `bun scripts/conformance.ts [executable]`.
 * Prints what applied and what failed; exit code 0 when every check that applies has passed.
 * What cannot apply stands in `conformance/not-applicable.ts` with the reason, and in docs/mcp.md.
 */
import { resolve } from "node:path";
import { NOT_APPLICABLE, REASONS } from "./conformance/not-applicable.ts";
import { runConformance } from "./conformance/run.ts";

const [executable] = process.argv.slice(2);
const results = await runConformance(executable === undefined ? undefined : [resolve(executable)]);
for (const { revision, tools, applied, passed, problems } of results) {
  const listed = NOT_APPLICABLE[revision] ?? [];
  console.log(
    `${revision}, ${tools} tools: ${passed} checks of ${applied.length} scenarios passed`,
  );
  console.log(`  ${applied.join(", ")}`);
  for (const reason of new Set(listed.map((entry) => entry.reason))) {
    const names = listed.filter((entry) => entry.reason === reason).map(({ name }) => name);
    console.log(`not applicable: ${REASONS[reason]}\n  ${names.join(", ")}`);
  }
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
}
process.exitCode = results.every(({ problems }) => problems.length === 0) ? 0 : 1;
