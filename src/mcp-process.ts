/** The process behind `svc mcp`: passes everything on to one that serves the pack already, or serves it. */
import { PassThrough } from "node:stream";
import { hasEnvFile, ownerInEnvironment, settingsFingerprint } from "./config/fingerprint.ts";
import type { CliDeps } from "./surface/cli/deps.ts";
import { socketAddress } from "./surface/mcp/link/address.ts";
import type { Guest, Kin } from "./surface/mcp/link/hello.ts";
import { type Joined, join } from "./surface/mcp/link/join.ts";
import { type Backend, relay } from "./surface/mcp/link/relay.ts";

type ServeMcp = CliDeps["serveMcp"];

export type McpProcess = {
  readonly version: string;
  /** The files that are the running program. */
  readonly program: readonly string[];
  /** Runs the command with another way to serve. @returns the exit code */
  readonly run: (serveMcp: ServeMcp) => Promise<number>;
};

/** How processes find each other, and what this one wants of the other. */
type Place = { readonly address: string; readonly kin: Kin; readonly guest: Guest };
type Streams = { readonly stdin: PassThrough; readonly stdout: PassThrough };

/**
 * Runs `svc mcp`. Where the command line is plain, a process that serves the pack is looked for before anything
 * else is loaded: passing messages on takes a tenth of the memory.
 */
export async function runMcp(args: readonly string[], deps: McpProcess): Promise<number> {
  const place = await placeOf(args, deps);
  if (place === undefined) return await deps.run(servingOf(deps));
  const joined = await join(place.address, place.kin, place.guest);
  if (joined.role === "guest") return await passOn(joined.backend, place, deps);
  return await deps.run(servingOf(deps, joined));
}

/** The place of a command line without anything that has to be looked up first. */
async function placeOf(args: readonly string[], deps: McpProcess): Promise<Place | undefined> {
  const options = plainOptions(args);
  if (options === undefined || hasEnvFile()) return undefined;
  try {
    const { mainFileOf, settingsForPath } = await import("./app/pack-path.ts");
    const { pack_path: packPath, db_path: dbPath } = settingsForPath(options.dbPath);
    const mainFile = mainFileOf({ pack_path: packPath || undefined, db_path: dbPath ?? "" });
    return {
      address: socketAddress(mainFile),
      kin: kinOf(deps, options.key),
      guest: { userId: ownerInEnvironment(), tools: options.tools },
    };
  } catch {
    // What is wrong with the path is said by who opens it.
    return undefined;
  }
}

type PlainOptions = {
  readonly dbPath: string;
  readonly key: string | undefined;
  readonly tools: "core" | "full";
};

/** Undefined for a command line that says more than which pack, with which key and which tools. */
function plainOptions(args: readonly string[]): PlainOptions | undefined {
  const values = new Map<string, string>();
  const rest = args.slice(1);
  while (rest.length > 0) {
    const [name = "", inline] = (rest.shift() ?? "").split(/=(.*)/s);
    const value = inline ?? rest.shift();
    if (!["--db-path", "--encryption-key", "--tools"].includes(name) || value === undefined) {
      return undefined;
    }
    values.set(name, value);
  }
  const dbPath = values.get("--db-path");
  const tools = values.get("--tools") ?? "full";
  if (dbPath === undefined || (tools !== "core" && tools !== "full")) return undefined;
  return { dbPath, key: values.get("--encryption-key"), tools };
}

function kinOf({ version, program }: McpProcess, key: string | undefined): Kin {
  return { version, fingerprint: settingsFingerprint({ version, program, key }) };
}

/** Passes everything on; when the server is gone and nobody takes its place, this process does. */
async function passOn(backend: Backend, place: Place, deps: McpProcess): Promise<number> {
  let own: Promise<number> | undefined;
  const rejoin = async (): Promise<Backend> => {
    if (own !== undefined) throw new Error("the memory could not be served");
    const joined = await join(place.address, place.kin, place.guest);
    if (joined.role === "guest") return joined.backend;
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    own = deps.run(servingOf(deps, joined, streams));
    // A server that could not be started ends its output, which ends the relay.
    const end = (): void => {
      streams.stdout.end();
    };
    own.then(end, end);
    return { input: streams.stdin, output: streams.stdout, repeatable: [] };
  };
  try {
    await relay({ stdin: process.stdin, stdout: process.stdout, backend, rejoin });
  } catch (error) {
    // A server of our own that could not start has said why.
    if (own === undefined) throw error;
  }
  return (await own) ?? 0;
}

/**
 * How the command serves once it has its settings.
 * @param joined what this process is to do, if that is known
 * @param streams where the client is, if not on stdin and stdout
 */
export function servingOf(
  deps: McpProcess,
  joined?: Joined | undefined,
  streams?: Streams | undefined,
): ServeMcp {
  return async ({ config, key, tools, ...options }, stop) => {
    const guest = { userId: config.mcp.user_id, tools };
    const kin = kinOf(deps, key);
    const { mainFileOf } = await import("./app/pack-path.ts");
    const address = socketAddress(mainFileOf(config));
    const known = joined ?? (await join(address, kin, guest));
    if (known.role === "guest") {
      await passOn(known.backend, { address, kin, guest }, deps);
      return;
    }
    if (known.role === "alone") options.log("info", `the pack is not shared: ${known.reason}`);
    const { serveMcpStdio } = await import("./surface/mcp/stdio.ts");
    await serveMcpStdio({
      ...options,
      ...streams,
      version: deps.version,
      boundUserId: guest.userId,
      guests: known.role === "host" ? { seat: known.seat, kin } : undefined,
      stop,
    });
  };
}
