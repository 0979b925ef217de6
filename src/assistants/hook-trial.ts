import type { ClientName, Surroundings } from "./catalogue.ts";
import { hooksOf } from "./hooks.ts";

/** What one run of a hook came to. */
export type HookTrial = {
  readonly event: string;
  /** Of the whole process. */
  readonly ms: number;
  /** Undefined: it ended well. */
  readonly problem: string | undefined;
};

/** Milliseconds after which a hook is ended. */
const LIMIT_MS = 30_000;

/** Runs each hook of a client as the client does, with a payload that stores nothing. */
export async function tryHooks(
  client: ClientName,
  here: Surroundings,
): Promise<readonly HookTrial[]> {
  const trials: HookTrial[] = [];
  for (const { event, command } of hooksOf(client, here)) {
    trials.push(await tryHook(event, command, here));
  }
  return trials;
}

async function tryHook(event: string, command: string, here: Surroundings): Promise<HookTrial> {
  const started = performance.now();
  const shell = here.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  const child = Bun.spawn([...shell, command], {
    cwd: here.home,
    env: { ...here.environment },
    stdin: new Blob([JSON.stringify(sampleOf(event))]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: LIMIT_MS,
  });
  const [said, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const ms = Math.round(performance.now() - started);
  return { event, ms, problem: problemOf(code, said, complaint) };
}

function problemOf(code: number, said: string, complaint: string): string | undefined {
  if (code !== 0) return `it ended with ${code}${complaint === "" ? "" : `: ${complaint.trim()}`}`;
  if (complaint !== "") return `it wrote to standard error: ${complaint.trim()}`;
  if (said === "") return undefined;
  try {
    JSON.parse(said);
    return undefined;
  } catch {
    return "it printed something else than JSON";
  }
}

/** A payload with the members of all assistants that call this event so; its prompt is not stored. */
function sampleOf(event: string): object {
  const [prompt, text] = ["!nomem A trial of svc connect.", "!nomem A trial of svc connect."];
  const common = { session_id: "svc-trial", hook_event_name: event, source: "startup" };
  if (/^[a-z]+_/.test(event)) {
    const info = { user_prompt: prompt, response: text };
    return { agent_action_name: event, trajectory_id: "svc-trial", tool_info: info };
  }
  if (event.includes(".")) {
    return { ...common, svc_plugin: "opencode", sessionID: "svc-trial", prompt, answer: text };
  }
  const isCursor = /^[a-z]/.test(event);
  return {
    ...common,
    ...(isCursor && { cursor_version: "0", conversation_id: "svc-trial", workspace_roots: [] }),
    ...{ prompt, text, prompt_response: text, last_assistant_message: text },
  };
}
