/** The assistants that run `svc hook`: what they send, and the form of the answer that each understands. */

/** An assistant, as its payload shows it. */
export const HOOK_CLIENTS = [
  "claude-code",
  "codex",
  "gemini",
  "cursor",
  "vscode",
  "windsurf",
  "devin",
  "opencode",
  "hermes",
  "openclaw",
] as const;
export type HookClient = (typeof HOOK_CLIENTS)[number];

/** Those whose transcripts are read. */
export const SWEPT_CLIENTS = ["claude-code", "codex", "gemini"] as const;

/** What happens in a session: it starts, the person asks, the assistant has answered. */
export type Moment = "start" | "prompt" | "answer";

/** Text goes into the context at a start; at a prompt; in neither case. */
type Answer = (moment: Moment, event: string, text: string | undefined) => object | undefined;

type Row = {
  /** Where the session's id, the prompt and the answer are; a dot leads into an object. The first text counts. */
  readonly session: readonly string[];
  readonly prompt: readonly string[];
  readonly answer: readonly string[];
  readonly folder: readonly string[];
  readonly reply: Answer;
};

/** The form of Claude Code, which most others took over. @param moments those at which a text is allowed */
const additional =
  (...moments: readonly Moment[]): Answer =>
  (moment, hookEventName, text) =>
    text !== undefined && moments.includes(moment)
      ? { hookSpecificOutput: { hookEventName, additionalContext: text } }
      : undefined;

const CLAUDE: Row = {
  session: ["session_id"],
  prompt: ["prompt"],
  answer: ["last_assistant_message"],
  folder: ["cwd"],
  reply: additional("start", "prompt"),
};

/** The form of our own plugins for programs without hooks. */
const PLUGIN: Row = {
  session: ["sessionID"],
  prompt: ["prompt"],
  answer: ["answer"],
  folder: ["directory"],
  reply: (_, event, text) => (text === undefined ? undefined : { event, context: text }),
};

const ROWS: Readonly<Record<HookClient, Row>> = {
  "claude-code": CLAUDE,
  codex: CLAUDE,
  devin: CLAUDE,
  gemini: { ...CLAUDE, answer: ["prompt_response"] },
  cursor: {
    session: ["conversation_id", "session_id"],
    prompt: ["prompt"],
    answer: ["text", "last_assistant_message"],
    folder: ["workspace_roots.0", "cwd"],
    reply: (moment, _, text) => {
      if (moment === "prompt") return { continue: true };
      return moment === "start" && text !== undefined ? { additional_context: text } : undefined;
    },
  },
  vscode: {
    ...CLAUDE,
    session: ["sessionId", "session_id"],
    reply: additional("start"),
  },
  windsurf: {
    session: ["trajectory_id"],
    prompt: ["tool_info.user_prompt"],
    answer: ["tool_info.response"],
    folder: ["tool_info.cwd", "cwd"],
    reply: () => undefined,
  },
  opencode: PLUGIN,
  hermes: PLUGIN,
  openclaw: PLUGIN,
};

const MOMENTS: Readonly<Record<string, Moment>> = {
  SessionStart: "start",
  sessionStart: "start",
  UserPromptSubmit: "prompt",
  BeforeAgent: "prompt",
  beforeSubmitPrompt: "prompt",
  pre_user_prompt: "prompt",
  "chat.message": "prompt",
  Stop: "answer",
  AfterAgent: "answer",
  afterAgentResponse: "answer",
  post_cascade_response: "answer",
  post_cascade_response_with_transcript: "answer",
  "session.idle": "answer",
};

/** The session of a trial, which leaves no trace. */
export const TRIAL_SESSION = "svc-trial";

/** What one run of a hook is about. */
export type Heard = {
  readonly client: HookClient;
  readonly moment: Moment;
  /** As the assistant names it. */
  readonly event: string;
  readonly session: string;
  /** The working directory; undefined if the assistant has none. */
  readonly folder: string | undefined;
  /** Words of the person or of the assistant; empty if the payload has none. */
  readonly text: string;
  /** At a start: `startup`, `resume`, `clear`, `compact`. */
  readonly source: string | undefined;
  /** The file with the whole conversation. */
  readonly transcript: string | undefined;
};

/**
 * Reads a payload. Its fields decide which assistant it is: several run the hooks that another one's file names.
 * @returns undefined for what no session of a person says: an unknown event, a subagent, a conversation that has not begun
 */
export function hear(
  payload: unknown,
  environment: Readonly<Record<string, string | undefined>> = {},
): Heard | undefined {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const event = textAt(payload, ["hook_event_name", "hookEventName", "agent_action_name"]) ?? "";
  const moment = Object.hasOwn(MOMENTS, event) ? MOMENTS[event] : undefined;
  const client = clientOf(payload, event, environment);
  const row = ROWS[client];
  const session = textAt(payload, row.session);
  if (moment === undefined || session === undefined || session === "empty-state-draft")
    return undefined;
  if (textAt(payload, ["agent_id", "subagent_id"]) !== undefined) return undefined;
  return {
    client,
    moment,
    event,
    session,
    folder: textAt(payload, row.folder),
    text: textAt(payload, moment === "answer" ? row.answer : row.prompt) ?? "",
    source: textAt(payload, ["source"]),
    transcript: textAt(payload, ["transcript_path"]),
  };
}

function clientOf(
  payload: object,
  event: string,
  environment: Readonly<Record<string, string | undefined>>,
): HookClient {
  const has = (name: string): boolean => Object.hasOwn(payload, name);
  if (has("cursor_version")) return "cursor";
  if (has("svc_plugin")) return pluginOf(payload);
  if (has("hookEventName") || has("sessionId")) return "vscode";
  if (has("agent_action_name") || has("trajectory_id")) return "windsurf";
  if (has("turn_id") && has("model")) return "codex";
  const isGemini = /^(?:BeforeAgent|AfterAgent)$/.test(event);
  if (isGemini || environment["GEMINI_SESSION_ID"] !== undefined) return "gemini";
  // Codex names no turn at the start of a session, but its model and the folder of its transcripts.
  if (/[/\\]\.codex[/\\]/.test(textAt(payload, ["transcript_path"]) ?? "")) return "codex";
  return has("prompt_id") && !has("transcript_path") ? "devin" : "claude-code";
}

function pluginOf(payload: object): HookClient {
  const named = textAt(payload, ["svc_plugin"]);
  return HOOK_CLIENTS.find((client) => client === named) ?? "opencode";
}

/** The answer in the form of an assistant. @returns undefined: nothing is printed */
export function replyTo({ client, moment, event }: Heard, text: string | undefined) {
  return ROWS[client].reply(moment, event, text);
}

/** Whether a text would reach the model at this moment. */
export function takesText(heard: Heard): boolean {
  return JSON.stringify(replyTo(heard, "canary") ?? null).includes("canary");
}

function textAt(payload: object, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    let value: unknown = payload;
    for (const step of path.split(".")) {
      value =
        typeof value === "object" && value !== null && Object.hasOwn(value, step)
          ? Reflect.get(value, step)
          : undefined;
    }
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
