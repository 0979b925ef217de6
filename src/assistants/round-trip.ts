import { parse } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { reach } from "../adapters/network/reach.ts";
import { VERSION } from "../app/version.ts";
import { workingFolder } from "../config/path.ts";
import type { RemoteServer, ServerCommand } from "./server-entry.ts";

/** The result of starting a server and talking to it. */
export type RoundTrip =
  | {
      readonly isOk: true;
      /** Milliseconds from the start of the process, or the first request, to the answer of the last request. */
      readonly ms: number;
      /** Of these, milliseconds until the server had introduced itself. */
      readonly startMs: number;
      readonly tools: number;
    }
  /** The problem in one line. */
  | { readonly isOk: false; readonly ms: number; readonly problem: string };

export type RoundTripOptions = {
  /** Milliseconds allowed for everything but the end of the process. */
  readonly limitMs: number;
  /** The working directory of the process. Default: the root of the file system. */
  readonly folder?: string | undefined;
};

/** An id that no memory has: the lowest one of its kind. */
const NOBODY = "00000000-0000-7000-8000-000000000000";
const READ_TOOL = "memory_get_node";
const STATS = "memory://stats";
/** Characters kept of the server's standard error. */
const KEPT = 2000;

/**
 * Starts a server as an assistant does: exactly this command, without a shell, with the few variables that assistants pass on and those of
 * the entry. Then tests it: handshake, list of tools, and a request that opens the pack. Nothing is stored and no memory is read. The
 * process has ended when this resolves. Never rejects.
 */
export async function tryServer(
  server: ServerCommand,
  { limitMs, folder }: RoundTripOptions,
): Promise<RoundTrip> {
  const started = performance.now();
  const elapsed = (): number => Math.round(performance.now() - started);
  const sdk = await loadSdk();
  const transport = new sdk.StdioClientTransport({
    command: server.command,
    args: [...server.args],
    env: { ...server.env },
    cwd: folder ?? parse(workingFolder()).root,
    stderr: "pipe",
  });
  const said = listen(transport);
  const client = new sdk.Client({ name: "svc", version: VERSION });
  const ended = Promise.withResolvers<void>();
  transport.onclose = ended.resolve;
  let isStarted = false;
  try {
    const timeout = (): { timeout: number } => ({ timeout: Math.max(1, limitMs - elapsed()) });
    const opening = client.connect(transport, timeout());
    isStarted = transport.pid !== null;
    await opening;
    const startMs = elapsed();
    const { tools } = await client.listTools(undefined, timeout());
    const names = tools.map(({ name }) => name);
    if (names.length === 0) throw new Error("it offers no tools");
    await ask(client, names.includes(READ_TOOL), timeout());
    return { isOk: true, ms: elapsed(), startMs, tools: names.length };
  } catch (error) {
    return { isOk: false, ms: elapsed(), problem: problemOf(error, server, said(), limitMs) };
  } finally {
    // It ends the process, by a signal if necessary.
    await client.close();
    if (isStarted) await ended.promise;
  }
}

/**
 * Speaks to a server over HTTP as an assistant does: handshake and list of tools, which needs the key. Never rejects.
 * @param key not in any message
 */
export async function tryRemote(
  { url, keyEnv }: RemoteServer,
  key: string,
  limitMs: number,
): Promise<RoundTrip> {
  const started = performance.now();
  const elapsed = (): number => Math.round(performance.now() - started);
  const [sdk, http] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const client = new sdk.Client({ name: "svc", version: VERSION });
  try {
    const timeout = (): { timeout: number } => ({ timeout: Math.max(1, limitMs - elapsed()) });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    const transport = new http.StreamableHTTPClientTransport(new URL(url), {
      requestInit,
      fetch: reach,
    });
    // SAFETY: the library's own transport lacks `undefined` in the type of an optional member.
    await client.connect(transport as Parameters<Client["connect"]>[0], timeout());
    const startMs = elapsed();
    const { tools } = await client.listTools(undefined, timeout());
    return { isOk: true, ms: elapsed(), startMs, tools: tools.length };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const problems: Readonly<Record<string, string>> = {
      401: `${url} does not accept the key in ${keyEnv} (401)`,
      404: `${url} has no MCP endpoint (404): is the server started with --mcp?`,
      [REQUEST_TIMEOUT]: `${url} did not answer within ${Math.round(limitMs / 1000)} s`,
    };
    const words = firstLine(error instanceof Error ? error.message : String(error));
    const problem = problems[String(code)] ?? `${url}: ${words.replaceAll(key, "…")}`;
    return { isOk: false, ms: elapsed(), problem };
  } finally {
    await client.close();
  }
}

type Sdk = {
  readonly Client: typeof Client;
  readonly StdioClientTransport: typeof StdioClientTransport;
};

async function loadSdk(): Promise<Sdk> {
  const [client, stdio] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
  ]);
  return { Client: client.Client, StdioClientTransport: stdio.StdioClientTransport };
}

/** Requests something that requires an open pack. */
async function ask(
  client: Client,
  hasReadTool: boolean,
  options: { readonly timeout: number },
): Promise<void> {
  if (!hasReadTool) {
    await client.readResource({ uri: STATS }, options);
    return;
  }
  const call = { name: READ_TOOL, arguments: { node_id: NOBODY } };
  const { isError, content } = await client.callTool(call, undefined, options);
  const text = textOf(content);
  // "No such memory" is the right answer, in any form.
  if (isError === true && !text.includes(NOBODY)) throw new Error(text);
}

function textOf(content: unknown): string {
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  return typeof first === "object" && first !== null && "text" in first ? String(first.text) : "";
}

/** Keeps the end of the server's standard error. */
function listen(transport: StdioClientTransport): () => string {
  let said = "";
  transport.stderr?.on("data", (chunk: Uint8Array) => {
    said = (said + Buffer.from(chunk).toString("utf8")).slice(-KEPT);
  });
  return () => said;
}

const CONNECTION_CLOSED = -32_000;
const REQUEST_TIMEOUT = -32_001;

function problemOf(error: unknown, server: ServerCommand, said: string, limitMs: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const last = said.trim().split("\n").at(-1) ?? "";
  if (code === "ENOENT" || code === "EACCES")
    return `${server.command} cannot be started (${code})`;
  if (code === REQUEST_TIMEOUT) {
    const words = last === "" ? "" : `; its last words: ${last}`;
    return `it did not answer within ${Math.round(limitMs / 1000)} s${words}`;
  }
  if (code === CONNECTION_CLOSED) {
    return last === "" ? "it ended without an answer" : `it ended: ${last}`;
  }
  return firstLine(error instanceof Error ? error.message : String(error));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
