/** The memory slot of OpenClaw: what is said goes to `svc hook`, which stores and recalls; the tools come by the MCP server of the manifest. */
import { spawn } from "node:child_process";

/** Milliseconds after which a hook is ended; it answers within 200. */
const LIMIT_MS = 5000;
/** Sessions of which it is known that they have begun. */
const SESSIONS_MAX = 1000;

/**
 * Runs `svc hook` with a payload. Never rejects: OpenClaw goes on whatever happens.
 * @param {readonly string[]} command
 * @param {object} payload
 * @returns {Promise<string>} what the model is to be told; empty: nothing
 */
export function runHook([program, ...args], payload) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LIMIT_MS,
      windowsHide: true,
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (part) => {
      said += part;
    });
    child.on("error", () => resolve(""));
    child.on("close", () => {
      try {
        resolve(String(JSON.parse(said).context ?? ""));
      } catch {
        resolve("");
      }
    });
    child.stdin.on("error", () => undefined).end(JSON.stringify(payload));
  });
}

/** The last answer in a conversation, as text. */
function answerIn(messages) {
  const last = messages.findLast(({ role }) => role === "assistant");
  if (typeof last?.content === "string") return last.content;
  const parts = Array.isArray(last?.content) ? last.content : [];
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Whether a person speaks, and no schedule, other agent or system. */
function isPersons({ trigger, jobId, inputProvenance }) {
  const isScheduled = jobId !== undefined || /^(?:cron|heartbeat)$/.test(trigger ?? "");
  return !isScheduled && (inputProvenance?.kind ?? "external_user") === "external_user";
}

// biome-ignore lint/style/noDefaultExport: OpenClaw takes the default export.
export default {
  id: "svc",
  name: "svc",
  description: "A long-term memory that its user owns.",
  kind: "memory",
  register(api) {
    const { program = "svc", pack, userId } = api.pluginConfig ?? {};
    const command = [program, "hook", "openclaw"];
    if (pack) command.push("--db-path", pack);
    if (userId) command.push("--user-id", userId);
    const begun = new Set();
    const tell = (event, { sessionId, sessionKey, workspaceDir }, more) =>
      runHook(command, {
        svc_plugin: "openclaw",
        hook_event_name: event,
        sessionID: sessionId ?? sessionKey,
        directory: workspaceDir,
        ...more,
      });
    const start = async (context) => {
      const session = context.sessionId ?? context.sessionKey;
      if (begun.has(session)) return "";
      if (begun.size >= SESSIONS_MAX) begun.clear();
      begun.add(session);
      return await tell("SessionStart", context, { source: "startup" });
    };
    api.registerMemoryCapability({});
    api.on("before_prompt_build", async ({ currentUserMessage, prompt }, context) => {
      if (!isPersons(context)) return undefined;
      const asked = currentUserMessage ?? prompt;
      const notes = [await start(context), await tell("chat.message", context, { prompt: asked })];
      const appendContext = notes.filter((note) => note !== "").join("\n");
      return appendContext === "" ? undefined : { appendContext };
    });
    api.on("agent_end", async ({ messages, success }, context) => {
      const answer = success && isPersons(context) ? answerIn(messages) : "";
      if (answer !== "") await tell("session.idle", context, { answer });
    });
  },
};
