import { join } from "node:path";
import type { Outcome } from "./run-svc.ts";

export type Line = {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
};

const SOURCE = join(import.meta.dir, "../../../src");
const MARK = "\u0001";
const SCRIPT = `
  const [source, lines] = JSON.parse(await Bun.stdin.text());
  const { runCli } = await import(source + "/surface/cli/program.ts");
  const from = async (file) => await import(source + "/process/" + file);
  const serving = {
    http: async (options) => (await from("serve.ts")).serveHttp(options),
    inspect: async (options) => (await from("serve.ts")).serveInspector(options),
    mcp: async (options, stop) => (await from("mcp.ts")).serveMcp(options, stop),
    mcpHttp: async (options) => (await from("serve.ts")).serveMcpHttp(options),
  };
  for (const { args, env = {} } of lines) {
    Object.assign(process.env, env);
    const code = await runCli(args, serving);
    for (const name of Object.keys(env)) delete process.env[name];
    process.stdout.write("${MARK}" + code + "${MARK}");
    process.stderr.write("${MARK}");
  }
  process.exit(0);`;

/** What commands print that are refused, all in one process: to load the program takes longer than to refuse. */
export async function outcomesOf(
  folder: string,
  lines: readonly Line[],
): Promise<readonly Outcome[]> {
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", SCRIPT], {
    cwd: folder,
    env: {
      ...{ PATH: process.env["PATH"] ?? "", HOME: folder, NO_COLOR: "1" },
      ...{ XDG_CONFIG_HOME: join(folder, ".config"), SVC_KEY_STORE: "file" },
      XDG_CACHE_HOME:
        process.env["XDG_CACHE_HOME"] ?? join(process.env["HOME"] ?? folder, ".cache"),
    },
    stdin: new TextEncoder().encode(JSON.stringify([SOURCE, lines])),
    ...{ stdout: "pipe", stderr: "pipe" },
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const told = stderr.split(MARK);
  const outcomes = [...stdout.matchAll(new RegExp(`([^${MARK}]*)${MARK}(\\d+)${MARK}`, "g"))].map(
    ([, text = "", code], at) => ({ code: Number(code), stdout: text, stderr: told[at] ?? "" }),
  );
  if (outcomes.length === lines.length) return outcomes;
  throw new Error(`${JSON.stringify(lines[outcomes.length])} ended the process: ${told.at(-1)}`);
}
