/** The process behind `svc mcp`: passes everything on to one that serves the pack already, or serves it. */
import { dirname } from "node:path";
import { PassThrough } from "node:stream";
import { keyFolder } from "../adapters/keystore/key-folder.ts";
import { linkSecret } from "../adapters/keystore/link-secret.ts";
import { VERSION } from "../app/version.ts";
import { SELF } from "../assistants/self.ts";
import { hasSettings, ownerInEnvironment, settingsFingerprint } from "../config/fingerprint.ts";
import { fileBesidePack, type SettingsFile } from "../config/settings-file.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { McpServeOptions } from "../surface/cli/context.ts";
import { plainOptions } from "../surface/cli/mcp-options.ts";
import { stopSignal } from "../surface/cli/signals.ts";
import { stderrLog } from "../surface/cli/stderr-log.ts";
import type { Log } from "../surface/contract/core/log.ts";
import { socketAddress, socketFolder } from "../surface/mcp/link/address.ts";
import { type Guest, type Kin, kinUnder } from "../surface/mcp/link/hello.ts";
import { type Joined, join } from "../surface/mcp/link/join.ts";
import { type Backend, relay } from "../surface/mcp/link/relay.ts";

/** Where processes of this user meet that serve one pack, and what they know of each other. */
export type Link = {
  readonly kin: Kin;
  /** Undefined: they cannot. */
  readonly address: string | undefined;
  readonly problem: string;
};

type LinkOptions = {
  readonly settingsFile: SettingsFile | undefined;
  /** As given on the command line. */
  readonly key: string | undefined;
  readonly readOnly: boolean;
};

/** One client on stdin and stdout, and the pack that it wants. */
type Session = {
  readonly link: Link;
  readonly guest: Guest;
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly log: Log;
  readonly stop: AbortSignal;
};
/** What a process does that serves the pack by itself. */
type OwnRole = Exclude<Joined, { role: "guest" }>;
type Streams = { readonly stdin: PassThrough; readonly stdout: PassThrough };

/** A connection that ends sooner than this many milliseconds was no good. */
const USEFUL_MS = 1000;
/** Connections without use, one after the other, after which this process serves its client by itself. */
const USELESS_MAX = 10;

/**
 * Runs `svc mcp`. Where the command line is plain, nothing is read before the client is served but what it takes to find a
 * process that serves the pack already: passing messages on takes a tenth of the memory, and a client waits for its
 * list of tools, not for settings. They are read when the memory is opened.
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

/** How the command serves that has read its settings first. */
export async function serveMcp(options: McpServeOptions, stop: AbortSignal): Promise<void> {
  const { config, tools, answers, openEngine, log } = options;
  const { mainFileOf } = await import("../app/pack-path.ts");
  await serve({
    link: linkOf(mainFileOf(config), options),
    guest: { userId: config.mcp.user_id, tools, answers },
    openEngine,
    log,
    stop,
  });
}

/** What makes this process interchangeable with others of this user, and where it meets them. */
export function linkOf(mainFile: string, { key, settingsFile: file, readOnly }: LinkOptions): Link {
  const program = { version: VERSION, program: SELF };
  const fingerprint = settingsFingerprint({ ...program, key, file, readOnly });
  const kin = { version: VERSION, fingerprint };
  try {
    const { env } = process;
    const secret = linkSecret(env);
    const folder = socketFolder(env, dirname(keyFolder(env)));
    return { kin: kinUnder(secret, kin), address: socketAddress(folder, mainFile), problem: "" };
  } catch (error) {
    // A process without a secret of its own trusts nobody.
    const problem = error instanceof Error ? error.message : String(error);
    return { kin, address: undefined, problem };
  }
}

/** As {@link join}; without a place to meet, this process serves its own client alone. */
export async function joinBy({ kin, address, problem }: Link, guest: Guest): Promise<Joined> {
  return address === undefined ? { role: "alone", reason: problem } : join(address, kin, guest);
}

/** The session of a command line without anything that has to be looked up first. */
async function plainSession(args: readonly string[]): Promise<Session | undefined> {
  const options = plainOptions(args);
  const owner = ownerInEnvironment();
  if (options === undefined || owner === undefined) return undefined;
  const { dbPath, encryptionKey: key, tools, answers } = options;
  const pack = await packAt(dbPath);
  if (pack === undefined || hasSettings(pack.settingsFile)) return undefined;
  return {
    link: linkOf(pack.mainFile, { ...pack, key, readOnly: false }),
    guest: { ...owner, tools, answers },
    openEngine: async () => {
      const { openNamedMemory } = await import("../surface/cli/mcp-memory.ts");
      return await openNamedMemory(dbPath, key);
    },
    log: stderrLog("warn"),
    // From now on: a process that ends in between would leave its place behind.
    stop: stopSignal(),
  };
}

type NamedPack = { readonly mainFile: string; readonly settingsFile: SettingsFile | undefined };

async function packAt(path: string): Promise<NamedPack | undefined> {
  const { mainFileOf, settingsForPath } = await import("../app/pack-path.ts");
  try {
    const { pack_path: packPath, db_path: dbPath } = settingsForPath(path);
    return {
      mainFile: mainFileOf({ pack_path: packPath || undefined, db_path: dbPath ?? "" }),
      settingsFile: fileBesidePack(path, { pack_path: packPath, db_path: dbPath }),
    };
  } catch {
    // What is wrong with the path is said by who opens it.
    return undefined;
  }
}

/** Serves the client of this process, by whatever process serves the pack. */
async function serve(session: Session): Promise<void> {
  const joined = await joinBy(session.link, session.guest);
  if (joined.role === "guest") await passOn(joined.backend, session);
  else await serveOwn(joined, session);
}

/** Serves as agreed. A place is free again at the end, however that comes. */
async function serveOwn(
  role: OwnRole,
  session: Session,
  streams?: Streams | undefined,
): Promise<void> {
  const { guest, openEngine, log, stop } = session;
  const { kin } = session.link;
  if (role.role === "alone") log("info", `the pack is not shared: ${role.reason}`);
  const seat = role.role === "host" ? role.seat : undefined;
  try {
    const { serveMcpStdio } = await import("../surface/mcp/stdio.ts");
    await serveMcpStdio({
      openEngine,
      version: kin.version,
      boundUserId: guest.userId,
      toolSet: guest.tools,
      answers: guest.answers,
      log,
      guests: seat && { seat, kin },
      stop,
      ...streams,
    });
  } finally {
    seat?.leave();
  }
}

/** Passes everything on; when the server is gone and nobody takes its place, this process does. */
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
    // It ends with this process, so nothing is ever asked again.
    return { input, output, isOther: false, repeatable: { tools: [], byRequestId: [] } };
  };
  const { log, stop } = session;
  const warn = (message: string): void => log("warn", message);
  try {
    await relay({ stdin: process.stdin, stdout: process.stdout, backend, rejoin, stop, warn });
  } catch (error) {
    // What ended a server of our own is told below.
    if (own === undefined) throw error;
  }
  await own;
}
