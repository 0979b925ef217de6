import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./key-folder.ts";

/** What the system's secret store answered. */
export type SecretAnswer =
  | { readonly kind: "done"; readonly value: string | undefined }
  /** There is no such store. */
  | { readonly kind: "absent" }
  /** It is locked or broken, or did not answer in time. */
  | { readonly kind: "silent" };

/** The system's secret store: Keychain, Credential Manager, or the Secret Service of a Linux desktop. */
export type SecretStore = {
  get(name: string): Promise<SecretAnswer>;
  set(name: string, value: string): Promise<SecretAnswer>;
  delete(name: string): Promise<SecretAnswer>;
};

export type SecretStoreOptions = {
  /** Milliseconds that it may take; a locked store prompts the user for a password meanwhile. */
  readonly timeoutMs: number;
  readonly environment: Environment;
};

type Request = {
  readonly call: "get" | "set" | "delete";
  readonly name: string;
  readonly value?: string;
};

/**
 * Runs in its own process: a store that never answers blocks a thread that nobody can stop, and the store is found through
 * variables that an assistant may not have passed on to us. Names and keys go through pipes, never as arguments.
 */
const CHILD = `
const { call, name, value } = JSON.parse(await Bun.stdin.text());
const entry = { service: "svc", name };
try {
  const answer = call === "set"
    ? await Bun.secrets.set({ ...entry, value })
    : await Bun.secrets[call](entry);
  process.stdout.write(JSON.stringify({ ok: true, value: typeof answer === "string" ? answer : null }));
} catch {
  process.stdout.write(JSON.stringify({ ok: false }));
}
process.exit(0);
`;

/** Variables that the store's library needs. None of them is ours. */
const PASSED_ON = ["HOME", "USER", "LOGNAME", "LANG", "LD_LIBRARY_PATH", "XDG_DATA_HOME"];
const PASSED_ON_WINDOWS = ["SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP"];

/**
 * The secret store of this user. Nothing is asked before the first call; a store that was silent once is not asked again.
 */
export function openSecretStore(options: SecretStoreOptions): SecretStore {
  let isSilent = false;
  const ask = async (request: Request): Promise<SecretAnswer> => {
    const environment = childEnvironment(options.environment);
    if (environment === undefined) return { kind: "absent" };
    const answer = isSilent ? undefined : await runChild(request, environment, options);
    isSilent = answer === undefined;
    return answer ?? { kind: "silent" };
  };
  return {
    get: (name) => ask({ call: "get", name }),
    set: (name, value) => ask({ call: "set", name, value }),
    delete: (name) => ask({ call: "delete", name }),
  };
}

/** Undefined if there cannot be a store: on Linux it is reached through the session's message bus. */
function childEnvironment(environment: Environment): Record<string, string> | undefined {
  const passed: Record<string, string> = { BUN_BE_BUN: "1" };
  for (const name of [...PASSED_ON, ...PASSED_ON_WINDOWS]) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  if (process.platform !== "linux") return passed;
  const address = busAddress(environment);
  return address === undefined ? undefined : { ...passed, DBUS_SESSION_BUS_ADDRESS: address };
}

function busAddress(environment: Environment): string | undefined {
  const given = environment["DBUS_SESSION_BUS_ADDRESS"];
  if (given !== undefined && given !== "") return given;
  const runtime = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`;
  const socket = join(runtime, "bus");
  return existsSync(socket) ? `unix:path=${socket}` : undefined;
}

async function runChild(
  request: Request,
  env: Record<string, string>,
  { timeoutMs }: SecretStoreOptions,
): Promise<SecretAnswer | undefined> {
  const child = Bun.spawn([process.execPath, "--no-env-file", "-e", CHILD], {
    // A bunfig.toml in the working directory could load code into it.
    cwd: "/",
    env,
    stdin: new Blob([JSON.stringify(request)]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const text = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? parseAnswer(text) : undefined;
}

function parseAnswer(text: string): SecretAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null) return undefined;
    if (!("ok" in answer) || answer.ok !== true) return undefined;
    const isText = "value" in answer && typeof answer.value === "string";
    return { kind: "done", value: isText ? String(answer.value) : undefined };
  } catch {
    // The child was killed: treated as no answer.
    return undefined;
  }
}
