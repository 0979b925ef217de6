/** The process behind `svc mcp`: passes everything on to one that serves the pack already, or serves it. */
import { PassThrough } from "node:stream";
import { hasEnvFile, ownerInEnvironment, settingsFingerprint } from "./config/fingerprint.ts";
import type { Config } from "./config/schema.ts";
import type { CliDeps } from "./surface/cli/deps.ts";
import { stopSignal } from "./surface/cli/signals.ts";
import { stderrLog } from "./surface/cli/stderr-log.ts";
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
/** A place, and what this process is to do there. */
type Role = { readonly place: Place; readonly joined: Exclude<Joined, { role: "guest" }> };
type Streams = { readonly stdin: PassThrough; readonly stdout: PassThrough };

/** A connection that ends sooner than this many milliseconds was no good. */
const USEFUL_MS = 1000;
/** Connections without use, one after the other, after which this process serves its client by itself. */
const USELESS_MAX = 10;

/**
 * Runs `svc mcp`. Where the command line is plain, a process that serves the pack is looked for before anything
 * else is loaded: passing messages on takes a tenth of the memory.
 */
export async function runMcp(args: readonly string[], deps: McpProcess): Promise<number> {
  const place = await placeOf(args, deps);
  if (place === undefined) return await deps.run(servingOf(deps));
  // From now on: a process that ends in between would leave its place behind.
  const stop = stopSignal();
  const joined = await join(place.address, place.kin, place.guest);
  if (joined.role === "guest") return await passOn(joined.backend, place, deps, stop);
  return await runAs({ place, joined }, deps, stop);
}

/** Serves as agreed. A place is free again at the end, however that comes. */
async function runAs(
  role: Role,
  deps: McpProcess,
  stop: AbortSignal,
  streams?: Streams | undefined,
): Promise<number> {
  try {
    return await deps.run(servingOf(deps, { role, stop, streams }));
  } finally {
    if (role.joined.role === "host") role.joined.seat.leave();
  }
}

/** The place of a command line without anything that has to be looked up first. */
async function placeOf(args: readonly string[], deps: McpProcess): Promise<Place | undefined> {
  const options = plainOptions(args);
  const owner = ownerInEnvironment();
  if (options === undefined || owner === undefined || hasEnvFile()) return undefined;
  try {
    const { mainFileOf, settingsForPath } = await import("./app/pack-path.ts");
    const { pack_path: packPath, db_path: dbPath } = settingsForPath(options.dbPath);
    const mainFile = mainFileOf({ pack_path: packPath || undefined, db_path: dbPath ?? "" });
    return {
      address: socketAddress(mainFile),
      kin: kinOf(deps, options.key),
      guest: { ...owner, tools: options.tools },
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
    if (!["--db-path", "--encryption-key", "--tools"].includes(name)) return undefined;
    if (value === undefined || value === "" || value.startsWith("-")) return undefined;
    values.set(name, value);
  }
  const dbPath = values.get("--db-path");
  const tools = values.get("--tools") ?? "full";
  if (dbPath === undefined || (tools !== "core" && tools !== "full")) return undefined;
  return { dbPath, key: values.get("--encryption-key"), tools };
}

/** What makes this process interchangeable with others. @param key as given on the command line */
export function kinOf(
  { version, program }: Pick<McpProcess, "version" | "program">,
  key: string | undefined,
): Kin {
  return { version, fingerprint: settingsFingerprint({ version, program, key }) };
}

/** Passes everything on; when the server is gone and nobody takes its place, this process does. */
async function passOn(
  backend: Backend,
  place: Place,
  deps: McpProcess,
  stop: AbortSignal,
): Promise<number> {
  let own: Promise<number> | undefined;
  let joinedAt = performance.now();
  let useless = 0;
  const rejoin = async (): Promise<Backend> => {
    if (own !== undefined) throw new Error("the memory could not be served");
    useless = performance.now() - joinedAt < USEFUL_MS ? useless + 1 : 0;
    const { address, kin, guest } = place;
    const joined: Joined =
      useless < USELESS_MAX
        ? await join(address, kin, guest)
        : { role: "alone", reason: "the process that serves it ends every connection" };
    joinedAt = performance.now();
    if (joined.role === "guest") return joined.backend;
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    own = runAs({ place, joined }, deps, stop, streams);
    // A server that could not be started ends its output, which ends the relay.
    const end = (): void => {
      streams.stdout.end();
    };
    own.then(end, end);
    const { stdin: input, stdout: output } = streams;
    // It ends with this process, so nothing is ever asked again.
    return { input, output, isOther: false, repeatable: { tools: [], byRequestId: [] } };
  };
  const log = stderrLog("warn");
  const warn = (message: string): void => log("warn", message);
  try {
    await relay({ stdin: process.stdin, stdout: process.stdout, backend, rejoin, stop, warn });
  } catch (error) {
    // A server of our own that could not start has said why.
    if (own === undefined) throw error;
  }
  return (await own) ?? 0;
}

type Serving = {
  readonly role: Role;
  readonly stop: AbortSignal;
  /** Where the client is, if not on stdin and stdout. */
  readonly streams?: Streams | undefined;
};

/**
 * How the command serves once it has its settings.
 * @param known absent: what this process is to do is found out first
 */
export function servingOf(deps: McpProcess, known?: Serving | undefined): ServeMcp {
  return async ({ config, key, tools, ...options }, commandStop) => {
    const guest = { userId: config.mcp.user_id, tools };
    const stop = known === undefined ? commandStop : AbortSignal.any([commandStop, known.stop]);
    const place = known?.role.place ?? (await placeIn(config, kinOf(deps, key), guest));
    const joined = known?.role.joined ?? (await join(place.address, place.kin, guest));
    if (joined.role === "guest") {
      await passOn(joined.backend, place, deps, stop);
      return;
    }
    if (joined.role === "alone") options.log("info", `the pack is not shared: ${joined.reason}`);
    const seat = joined.role === "host" ? joined.seat : undefined;
    try {
      const { serveMcpStdio } = await import("./surface/mcp/stdio.ts");
      await serveMcpStdio({
        ...options,
        ...known?.streams,
        version: deps.version,
        boundUserId: guest.userId,
        toolSet: tools,
        guests: seat && { seat, kin: place.kin },
        stop,
      });
    } finally {
      seat?.leave();
    }
  };
}

async function placeIn(config: Config, kin: Kin, guest: Guest): Promise<Place> {
  const { mainFileOf } = await import("./app/pack-path.ts");
  return { address: socketAddress(mainFileOf(config)), kin, guest };
}
