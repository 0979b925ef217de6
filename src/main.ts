/** Entry of the process. It loads no more than the command at hand needs. */
import { resolve } from "node:path";
import { VERSION } from "./app/version.ts";
import type { McpProcess } from "./process/mcp.ts";
import type { CliDeps } from "./surface/cli/deps.ts";

/** Milliseconds for which a process may linger that has nothing left to do. */
const LINGER_MS = 2000;

/** What the commands need; every part is loaded when a command asks for it. */
const DEPS: CliDeps = {
  version: VERSION,
  self: Bun.isStandaloneExecutable
    ? [process.execPath]
    : [process.execPath, resolve(import.meta.dir, "main.ts")],
  settingsForPath: async (path) => (await import("./app/pack-path.ts")).settingsForPath(path),
  openEngine: async (config, opening) =>
    await (await import("./app/open-engine.ts")).openEngine(config, opening),
  openOrMake: async (config, warn) =>
    await (await import("./packs/create-pack.ts")).openOrMake(config, warn),
  reportOnPack: async (config) =>
    await (await import("./packs/inspect-pack.ts")).reportOnPack(config, false),
  diagnose: async (config, isRequired, request) =>
    await (await import("./doctor/diagnose.ts")).diagnose(config, isRequired, request, DEPS.self),
  keys: {
    find: async (config, request) =>
      (await (await import("./app/find-key.ts")).findKey(config, request)).config,
    weakness: async (keyText) => (await import("./app/passphrase.ts")).weaknessOf(keyText),
    status: async (config) => await (await import("./packs/key-custody.ts")).keyStatus(config),
    createPack: async (config, newKey, owner) =>
      await (await import("./packs/create-pack.ts")).createPack(config, newKey, owner),
    exportKey: async (config, request, output) =>
      await (await import("./packs/key-custody.ts")).exportKey(config, request, output),
    importKey: async (config, keyText) =>
      await (await import("./packs/key-custody.ts")).importKey(config, keyText),
    forgetKey: async (config) => await (await import("./packs/key-custody.ts")).forgetKey(config),
  },
  clients: {
    names: async () => (await import("./assistants/catalogue.ts")).CLIENT_NAMES,
    assistant: async (config, wish) =>
      await (await import("./assistants/client-desk.ts")).assistantOf(config, {
        ...wish,
        self: DEPS.self,
      }),
    planConnection: async (entry, server, force) =>
      await (await import("./assistants/client-desk.ts")).connectionChange(entry, server, force),
    planDisconnection: async (entry) =>
      await (await import("./assistants/client-desk.ts")).disconnectionChange(entry),
    snippet: async (client, name, server) =>
      await (await import("./assistants/client-desk.ts")).snippetFor(client, name, server),
    tryServer: async (server) => await (await import("./assistants/client-desk.ts")).tryOut(server),
  },
  exportPack: async (config, request) =>
    await (await import("./packs/export-pack.ts")).exportPack(config, request),
  importPack: async (config, newKey, request) =>
    await (await import("./packs/import-pack.ts")).importPack(config, newKey, request),
  backUpPack: async (config, request) =>
    await (await import("./packs/backup-pack.ts")).backUpPack(config, request),
  compactPack: async (config) => await (await import("./packs/maintenance.ts")).compactPack(config),
  rekeyPack: async (config, target) =>
    await (await import("./packs/maintenance.ts")).rekeyPack(config, target),
  migratePack: async (config, destination) =>
    await (await import("./packs/maintenance.ts")).migratePack(config, destination),
  serveHttp: async (options) =>
    await (await import("./process/serve.ts")).serveHttp(options, MCP_PROCESS),
  serveMcp: async (options, stop) => {
    const { servingOf } = await import("./process/mcp.ts");
    await servingOf(MCP_PROCESS)(options, stop);
  },
  serveMcpHttp: async (options) =>
    await (await import("./process/serve.ts")).serveMcpHttp(options, MCP_PROCESS),
};

const MCP_PROCESS: McpProcess = {
  version: VERSION,
  program: DEPS.self,
  run: runCommand,
  openMemory: async (dbPath, key) =>
    await (await import("./surface/cli/mcp-memory.ts")).openNamedMemory(DEPS, dbPath, key),
  report: async (error) => (await import("./surface/cli/program.ts")).reportFailure(error),
};

async function runCommand(): Promise<number> {
  const { runCli } = await import("./surface/cli/program.ts");
  return await runCli(process.argv.slice(2), DEPS);
}

async function main(args: readonly string[]): Promise<number> {
  // Answered here: scripts ask for it often, and a parser of command lines takes longer to load than to answer.
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  // Before a command line is parsed: a process that only passes messages on needs none of it.
  if (args[0] === "mcp") {
    const { runMcp } = await import("./process/mcp.ts");
    const exitCode = await runMcp(args, MCP_PROCESS);
    // Its client has left: whatever is still open must not keep it.
    setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
    return exitCode;
  }
  return await runCommand();
}

process.exitCode = await main(process.argv.slice(2));
