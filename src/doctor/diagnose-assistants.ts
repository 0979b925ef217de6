import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { mainFileOf } from "../app/pack-path.ts";
import { VERSION } from "../app/version.ts";
import { assistantCommand, canBeOpened, keyOfPack } from "../assistants/assistant-command.ts";
import { serverNameFor, surroundings } from "../assistants/catalogue.ts";
import { type Connection, connectionsTo, remoteConnections } from "../assistants/config-change.ts";
import { tryServer } from "../assistants/round-trip.ts";
import { NO_CREATE } from "../assistants/server-entry.ts";
import type { Config } from "../config/schema.ts";
import { shellWord, shownName } from "../lib/text.ts";
import type { PackReport } from "../packs/inspect-pack.ts";
import type { KeyStatus } from "../packs/key-custody.ts";
import type { Finding } from "./checks.ts";

/** Milliseconds for the server to answer; a busy machine needs many of them. */
const LIMIT_MS = 30_000;

/** Whether an assistant that starts this program for the pack gets an answer. Changes nothing. */
export async function checkAssistant(config: Config, report: PackReport): Promise<Finding> {
  const name = "assistant";
  const key = await keyOfPack(config);
  const reason = whyNotTried(report, key);
  if (reason !== undefined) return { name, status: "ok", message: `not tried: ${reason}` };
  const server = assistantCommand({ pack: report.path }, key);
  const trip = await tryServer(server, { limitMs: LIMIT_MS });
  if (trip.isOk) return { name, status: "ok", message: `answered in ${trip.ms} ms` };
  const message = `a server that was started for an assistant failed after ${trip.ms} ms: ${trip.problem}`;
  return { name, status: "fail", message };
}

/** Opening a pack does pending work, which an examination must not do. */
function whyNotTried(
  { manifest, pendingJobs, path }: PackReport,
  key: KeyStatus | undefined,
): string | undefined {
  if (manifest.softwareVersion !== VERSION) {
    return `the pack was last opened by svc ${shownName(manifest.softwareVersion)}, and the next start brings it up to date`;
  }
  if (pendingJobs > 0) return "the next start does the work that is pending";
  // From a killed process, or one that has just written.
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    return "the pack has a log, which the next start moves into the file";
  }
  return canBeOpened(key)
    ? undefined
    : `the key of the pack is not kept on this machine, so that an assistant cannot open it unless its own settings have the key; svc key import ${shellWord(path)} keeps it`;
}

/** The known assistants that use the pack, and those that reach a server over HTTP, which may be of another memory. */
export async function checkConnected(config: Config): Promise<Finding> {
  const { message, ...finding } = await checkOwnPack(mainFileOf(config));
  const remote = await remoteConnections(surroundings());
  const servers = remote.map(({ client, url, file }) => `; ${client} uses ${url} (${file})`);
  return { ...finding, message: `${message}${servers.join("")}` };
}

async function checkOwnPack(pack: string): Promise<Finding> {
  const name = "connected";
  const connections = await connectionsTo(pack, surroundings());
  const broken = connections.filter(
    ({ server }) => isAbsolute(server.command) && !isProgram(server.command),
  );
  if (broken.length > 0) {
    const message = broken.map((connection) => brokenInWords(connection, pack)).join("; ");
    return { name, status: "warn", message };
  }
  if (connections.length > 0) {
    const making = connections.filter(({ server }) => !server.args.includes(NO_CREATE));
    const again = making.map((connection) => commandFor(connection, pack)).join("; ");
    const remark = `. If this pack is moved, a new, empty one takes its place; so that it does not, run again: ${again}`;
    const message = `${connections.map(inWords).join(", ")}${making.length > 0 ? remark : ""}`;
    return { name, status: "ok", message };
  }
  const message = `none of the known assistants; one is connected with: svc connect <client> --db-path ${shellWord(pack)}`;
  return { name, status: "ok", message };
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function brokenInWords(connection: Connection, pack: string): string {
  const { client, server } = connection;
  return `${client} starts ${server.command}, which is missing or no program; run: ${commandFor(connection, pack)}`;
}

function commandFor({ client, scope, name }: Connection, pack: string): string {
  const options = [
    `--db-path ${shellWord(pack)}`,
    ...(name === serverNameFor(client) ? [] : [`--name ${shellWord(name)}`]),
    ...(scope === "user" ? [] : [`--scope ${scope}`]),
  ];
  return `svc connect ${client} ${options.join(" ")}`;
}

function inWords({ client, file }: Connection): string {
  return `${client} (${file})`;
}
