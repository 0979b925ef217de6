/** The process behind `svc hook`: reads one payload, answers in milliseconds, and always ends with 0. */
import { spawn } from "node:child_process";
import { statSync, writeSync } from "node:fs";
import { setPriority } from "node:os";
import { SELF } from "../assistants/catalogue.ts";
import { type HookPlace, runHook } from "../capture/hook.ts";
import type { RecallRequest } from "../capture/recall.ts";
import { introduce } from "../surface/mcp/link/handshake.ts";
import { LineReader } from "../surface/mcp/link/lines.ts";
import { reach } from "../surface/mcp/link/rendezvous.ts";
import { linkOf, packAt } from "./link.ts";

/** Bytes of a payload that are read. */
const PAYLOAD_BYTES = 16 * 1024 * 1024;
/** Milliseconds for the assistant to send its payload; a closed input ends it earlier. */
const PAYLOAD_MS = 2000;

const SWEEP_PRIORITY = 10;

/** Runs `svc hook <client> --db-path <pack> [--user-id <owner>]`. Nothing is written to standard error. */
export async function hook(args: readonly string[]): Promise<void> {
  try {
    const { named, dbPath, user } = optionsOf(args);
    const text = await runHook(await payload(), named, () => placeOf(dbPath, user));
    if (text !== "") writeSync(1, text);
  } catch {
    // The assistant goes on.
  }
}

function optionsOf(args: readonly string[]) {
  const optionOf = (name: string): string | undefined => {
    const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
    const [arg, next] = args.slice(at, at + 2);
    return at < 0 || arg === undefined
      ? undefined
      : arg === name
        ? next
        : arg.slice(name.length + 1);
  };
  const [named = ""] = args;
  return { named, dbPath: optionOf("--db-path"), user: optionOf("--user-id") };
}

/** Standard input up to its end, or up to the end of a JSON object: some assistants keep it open. */
async function payload(): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), PAYLOAD_MS);
  const reader = Bun.stdin.stream().getReader();
  for (;;) {
    const read = await Promise.race([reader.read(), late]);
    if (read?.value === undefined) break;
    parts.push(read.value);
    size += read.value.byteLength;
    if (size > PAYLOAD_BYTES || isWhole(parts)) break;
  }
  clearTimeout(timer);
  return Buffer.concat(parts).toString("utf8");
}

function isWhole(parts: readonly Uint8Array[]): boolean {
  const last = Buffer.from(parts.at(-1) ?? []);
  if (!last.toString("latin1").trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(Buffer.concat(parts).toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

async function placeOf(dbPath: string | undefined, user: string | undefined): Promise<HookPlace> {
  const pack = packAt(dbPath ?? (await ownPack()) ?? "");
  if (pack === undefined) return { mainFile: undefined, user, ask: async () => false };
  // What was said waits for a pack that was moved, and comes in when it is back.
  const { mainFile } = pack;
  const isFile = !mainFile.includes("://");
  if (isFile && !hasFile(mainFile)) {
    return { mainFile, isMissing: true, user, ask: async () => false };
  }
  const link = linkOf(mainFile, { ...pack, key: undefined, readOnly: false });
  return {
    mainFile,
    user,
    ...(isFile && {
      search: async (request: RecallRequest) => {
        // Beside a process that serves the pack it is not needed, and costs half the time of this program.
        const { recallFrom } = await import("./hook-words.ts");
        return await recallFrom(mainFile, request);
      },
      sweep: () => startSweep(mainFile, user),
    }),
    ask: async (request, answered) => {
      const socket = link.address === undefined ? undefined : await reach(link.address);
      if (socket === undefined) return false;
      await introduce(socket, link.kin, { userId: user, tools: "core", isHook: true });
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const lines = new LineReader();
      socket.on("data", (chunk: Uint8Array) => {
        for (const line of lines.read(chunk)) answered(JSON.parse(line));
      });
      socket.on("end", resolve).on("close", resolve).on("error", resolve);
      socket.resume();
      socket.write(`${JSON.stringify(request)}\n`);
      await over;
      socket.destroy();
      return true;
    },
  };
}

/** Whether something can be read there without waiting for it. */
function hasFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Goes on after this program, behind everything else on the machine. */
function startSweep(mainFile: string, user: string | undefined): void {
  const [program, ...rest] = SELF;
  const owner = user === undefined ? [] : ["--user-id", user];
  const child = spawn(program, [...rest, "capture", "sweep", mainFile, ...owner], {
    detached: true,
    stdio: "ignore",
  });
  child.on("error", () => undefined);
  child.unref();
  if (child.pid !== undefined) setPriority(child.pid, SWEEP_PRIORITY);
}

async function ownPack(): Promise<string | undefined> {
  const { ownPack: find } = await import("../app/own-pack.ts");
  return find();
}
