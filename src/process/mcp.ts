/** The process behind `svc mcp`: forwards everything to a process that already serves the pack, or serves it. */
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { hasSettings, ownerInEnvironment } from "../config/fingerprint.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { McpServeOptions } from "../surface/cli/context.ts";
import { plainOptions } from "../surface/cli/mcp-options.ts";
import { stopSignal } from "../surface/cli/signals.ts";
import { stderrLog } from "../surface/cli/stderr-log.ts";
import type { Log } from "../surface/contract/core/log.ts";
import { type Guest, type Joined, join } from "../surface/mcp/link/handshake.ts";
import { type Backend, relay } from "../surface/mcp/link/relay.ts";
import { repeatableTools } from "../surface/mcp/shown-schemas.ts";
import type { HookService } from "../surface/mcp/stdio.ts";
import { type Link, linkOf, packAt } from "./link.ts";
import { releaseAtRest } from "./rest.ts";

/** Answers the hooks of assistants for the pack of a link. */
export function hookOf({ mainFile }: Link): HookService {
  let service: Promise<(socket: Socket) => Promise<void>> | undefined;
  return async (engine, socket) => {
    // A server without hooks does not need it.
    service ??= import("../capture/receive.ts").then(({ hookService }) =>
      hookService(engine, mainFile),
    );
    await (await service)(socket);
  };
}

/** One client on stdin and stdout, and its pack. */
type Session = {
  readonly link: Link;
  readonly guest: Guest;
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly log: Log;
  readonly stop: AbortSignal;
};
/** The role of a process that serves the pack itself. */
type OwnRole = Exclude<Joined, { role: "guest" }>;
type Streams = { readonly stdin: PassThrough; readonly stdout: PassThrough };

/** A connection that ends within this many milliseconds was useless. */
const USEFUL_MS = 1000;
/** Consecutive useless connections after which this process serves its client by itself. */
const USELESS_MAX = 10;

/**
 * Runs `svc mcp`. With a plain command line, it reads only what it needs to find a process that already serves the pack: forwarding
 * messages takes a tenth of the memory, and a client waits for its list of tools, not for settings. These are read when the memory is
 * opened.
 * @param runCommand runs the command line as it is
 * @returns the exit code
 */
export async function runMcp(
  args: readonly string[],
  runCommand: () => Promise<number>,
): Promise<number> {
  const session = await plainSession(args);
  if (session === undefined) return await runCommand();
  try {
    await serve(session);
    return 0;
  } catch (error) {
    const { reportFailure } = await import("../surface/cli/program.ts");
    return reportFailure(error);
  }
}

/** Serves for the command, which has read its settings first. */
export async function serveMcp(options: McpServeOptions, stop: AbortSignal): Promise<void> {
  const { config, tools, openEngine, log } = options;
  const { mainFileOf } = await import("../app/pack-path.ts");
  await serve({
    link: linkOf(mainFileOf(config), options),
    guest: { userId: config.mcp.user_id, tools },
    openEngine,
    log,
    stop,
  });
}

/** Like {@link join}; without a meeting place, this process serves only its own client. */
export async function joinBy({ kin, address, problem }: Link, guest: Guest): Promise<Joined> {
  return address === undefined ? { role: "alone", reason: problem } : join(address, kin, guest);
}

/** The session of a plain command line. */
async function plainSession(args: readonly string[]): Promise<Session | undefined> {
  const options = plainOptions(args);
  const owner = ownerInEnvironment();
  if (options === undefined || owner === undefined) return undefined;
  const { dbPath, encryptionKey: key, create, tools } = options;
  const pack = await packAt(dbPath);
  if (pack === undefined || hasSettings(pack.settingsFile)) return undefined;
  return {
    link: linkOf(pack.mainFile, { ...pack, key, readOnly: false }),
    guest: { ...owner, tools },
    openEngine: async () => {
      const { openNamedMemory } = await import("../surface/cli/mcp-memory.ts");
      return await openNamedMemory(dbPath, { key, create });
    },
    log: stderrLog("warn"),
    // From now on: a process that ends in between would leave its socket behind.
    stop: stopSignal(),
  };
}

/** Serves the client of this process, through any process that serves the pack. */
async function serve(session: Session): Promise<void> {
  const joined = await joinBy(session.link, session.guest);
  if (joined.role === "guest") await passOn(joined.backend, session);
  else await serveOwn(joined, session);
}

/** Serves in the agreed role. The address is freed at the end in any case. */
async function serveOwn(
  role: OwnRole,
  session: Session,
  streams?: Streams | undefined,
): Promise<void> {
  const { guest, openEngine, log, stop } = session;
  const { kin } = session.link;
  if (role.role === "alone") log("info", `the pack is not shared: ${role.reason}`);
  const seat = role.role === "host" ? role.seat : undefined;
  const endRest = releaseAtRest();
  try {
    const { serveMcpStdio } = await import("../surface/mcp/stdio.ts");
    await serveMcpStdio({
      openEngine,
      version: kin.version,
      boundUserId: guest.userId,
      toolSet: guest.tools,
      log,
      guests: seat && { seat, kin, hook: hookOf(session.link) },
      stop,
      ...streams,
    });
  } finally {
    endRest();
    seat?.leave();
  }
}

/** Forwards everything; if the server goes away and no other process takes its place, this one does. */
async function passOn(backend: Backend, session: Session): Promise<void> {
  let own: Promise<void> | undefined;
  let joinedAt = performance.now();
  let useless = 0;
  const rejoin = async (): Promise<Backend> => {
    if (own !== undefined) throw new Error("the memory could not be served");
    useless = performance.now() - joinedAt < USEFUL_MS ? useless + 1 : 0;
    const joined: Joined =
      useless < USELESS_MAX
        ? await joinBy(session.link, session.guest)
        : { role: "alone", reason: "the process that serves it ends every connection" };
    joinedAt = performance.now();
    if (joined.role === "guest") return joined.backend;
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    own = serveOwn(joined, session, streams);
    // A server that could not be started ends its output, which ends the relay.
    const end = (): void => {
      streams.stdout.end();
    };
    own.then(end, end);
    const { stdin: input, stdout: output } = streams;
    return { input, output, isOther: false };
  };
  const { log, stop } = session;
  const warn = (message: string): void => log("warn", message);
  const { stdin, stdout } = process;
  const repeatable = repeatableTools();
  try {
    await relay({ stdin, stdout, backend, repeatable, rejoin, stop, warn });
  } catch (error) {
    // The failure of our own server is reported below.
    if (own === undefined) throw error;
  }
  await own;
}
