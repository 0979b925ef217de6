/** Entry of the process. It loads only what the current command needs. */
import { VERSION } from "./app/version.ts";
import { watchStandardOutput } from "./lib/standard-output.ts";
import type { Serving } from "./surface/cli/context.ts";

/** Milliseconds for which an idle process may linger. */
const LINGER_MS = 2000;

const SERVING: Serving = {
  http: async (options) => (await import("./process/serve.ts")).serveHttp(options),
  users: async (address) => (await import("./process/users.ts")).openToUsers(address),
  inspect: async (options) => (await import("./process/serve.ts")).serveInspector(options),
  mcp: async (options, stop) => (await import("./process/mcp.ts")).serveMcp(options, stop),
  mcpHttp: async (options) => (await import("./process/serve.ts")).serveMcpHttp(options),
};

function isVersion(argument: string | undefined): boolean {
  return argument === "--version" || argument === "-V";
}

async function runCommand(): Promise<number> {
  const { runCli } = await import("./surface/cli/program.ts");
  return await runCli(process.argv.slice(2), SERVING);
}

async function main(args: readonly string[]): Promise<number> {
  // Answered here: scripts call it often, and loading a command-line parser takes longer than answering.
  if (args.length === 1 && isVersion(args[0])) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (args.length === 2 && isVersion(args[0]) && args[1] === "--verbose") {
    const { versionReport } = await import("./app/version.ts");
    process.stdout.write(versionReport());
    return 0;
  }
  // Before anything reads a key.
  const { protectProcess } = await import("./process/protect.ts");
  protectProcess();
  // An assistant waits for it at each prompt.
  if (args[0] === "hook" && !args.includes("--help")) {
    await (await import("./process/hook.ts")).hook(args.slice(1));
    process.exit(0);
  }
  // Before the command line is parsed: a process that only forwards messages does not need the parser.
  if (args[0] === "mcp") {
    const { runMcp } = await import("./process/mcp.ts");
    const exitCode = await runMcp(args, runCommand);
    // Its client has left: open handles must not keep it alive.
    setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
    return exitCode;
  }
  return await runCommand();
}

watchStandardOutput();
process.exitCode = await main(process.argv.slice(2));
