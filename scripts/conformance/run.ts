import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "../bench/server.ts";
import { NOT_APPLICABLE, type NotApplicable } from "./not-applicable.ts";

const TOOL_SETS = ["full", "core"] as const;

const PACKAGE = resolve(import.meta.dir, "../../node_modules/@modelcontextprotocol/conformance");
/** Milliseconds for all scenarios of a revision; they take a few seconds. */
const LIMIT_MS = 120_000;

/** Whether each message fits the protocol's schema: no scenario excuses one that does not. */
const SCHEMA_CHECK = "wire-schema-valid";

/** What came of one revision. */
export type Conformance = {
  readonly revision: string;
  /** The offered set of tools. */
  readonly tools: string;
  /** Scenarios that apply, by name. */
  readonly applied: readonly string[];
  /** Checks that passed, those of scenarios that do not apply not counted. */
  readonly passed: number;
  /** What should not be: failed checks, and entries of the list that no longer tell the truth. */
  readonly problems: readonly string[];
};

type Check = {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
};

/**
 * Runs the scenarios that the official suite requires of a server, in each revision that it knows and with each set of tools, against `svc serve --mcp`
 * on a pack of its own. Uses no network but this machine's own.
 * @param command what runs the program; default: SVC_EXE, else dist/svc, else src/main.ts under Bun
 */
export async function runConformance(
  command?: readonly string[] | undefined,
): Promise<readonly Conformance[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-conformance-"));
  const pack = join(folder, "memory.pack");
  try {
    const server = await startServer({
      pack,
      command,
      args: ["serve", "--mcp", "--db-path", pack, "--port", "0"],
      environment: { HOME: folder, SVC_KEY_STORE: "file" },
    });
    try {
      const results: Conformance[] = [];
      for (const tools of TOOL_SETS) {
        for (const revision of Object.keys(NOT_APPLICABLE)) {
          const url = `${server.url}/mcp?tools=${tools}`;
          const judged = await runRevision(revision, url, join(folder, tools, revision));
          results.push({ ...judged, tools });
        }
      }
      return results;
    } finally {
      await server.end("SIGTERM");
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runRevision(
  revision: string,
  url: string,
  output: string,
): Promise<Omit<Conformance, "tools">> {
  const suite = join(PACKAGE, "dist/index.js");
  if (!existsSync(suite)) throw new Error(`${suite} is missing; run bun install`);
  const child = Bun.spawn(
    [process.execPath, suite, "server", "--url", url, "--requirements", revision, "-o", output],
    // The suite has no say in where it is run from, and its own folder has no settings.
    { cwd: PACKAGE, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: LIMIT_MS },
  );
  const [said, complaints] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.signalCode !== null) throw new Error(`the suite took longer than ${LIMIT_MS} ms`);
  if (!said.includes("=== SUMMARY ===")) throw new Error(`the suite did not run: ${complaints}`);
  return judge(revision, checksIn(output), NOT_APPLICABLE[revision] ?? []);
}

/** The checks of each scenario, from the folders that the suite leaves: `server-<scenario>-<time>`. */
function checksIn(output: string): ReadonlyMap<string, readonly Check[]> {
  const named = readdirSync(output).map((folder): [string, readonly Check[]] => {
    const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    return [scenario, JSON.parse(readFileSync(join(output, folder, "checks.json"), "utf8"))];
  });
  return new Map(named);
}

/**
 * Compares what came out with what cannot apply. Pure. A scenario that is not on the list has to say something, and nothing
 * against the server; one that is on it must not pass. Messages have to fit the protocol's schema in both.
 */
export function judge(
  revision: string,
  scenarios: ReadonlyMap<string, readonly Check[]>,
  notApplicable: readonly NotApplicable[],
): Omit<Conformance, "tools"> {
  const listed = new Set(notApplicable.map(({ name }) => name));
  const problems: string[] = [];
  const applied: string[] = [];
  let passed = 0;
  for (const [scenario, checks] of scenarios) {
    const isExcused = ({ id }: Check): boolean =>
      id !== SCHEMA_CHECK && (listed.has(scenario) || listed.has(`${scenario}:${id}`));
    const failed = checks.filter((check) => check.status === "FAILURE" && !isExcused(check));
    problems.push(
      ...failed.map(({ id, errorMessage }) => `${scenario}:${id} fails: ${errorMessage ?? "?"}`),
    );
    if (listed.has(scenario)) continue;
    applied.push(scenario);
    const successes = checks.filter(({ status }) => status === "SUCCESS").length;
    passed += successes;
    if (successes === 0) problems.push(`${scenario} says nothing; list it with the reason`);
  }
  problems.push(
    ...[...listed]
      .filter((name) => passes(name, scenarios))
      .map((name) => `${name} is listed, and passes or does not exist; take it off the list`),
  );
  return { revision, applied: applied.sort(), passed, problems };
}

/** Whether nothing is left that an entry of the list could excuse. */
function passes(name: string, scenarios: ReadonlyMap<string, readonly Check[]>): boolean {
  const [scenario = "", id] = name.split(":");
  const checks = scenarios.get(scenario) ?? [];
  return checks
    .filter((check) => id === undefined || check.id === id)
    .every(({ status }) => status === "SUCCESS" || (status === "INFO" && !isSilent(checks)));
}

/** Whether a scenario has not come to any check of its own. */
function isSilent(checks: readonly Check[]): boolean {
  return checks.every(({ status }) => status !== "SUCCESS");
}
