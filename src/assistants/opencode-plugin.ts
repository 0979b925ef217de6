/**
 * The plugin of OpenCode, which runs no hooks: it tells `svc hook` what is said, and puts what that answers behind the message that
 * it is about, where it stays, so that the cache of the prompt is kept.
 */
export function openCodePlugin(command: readonly string[]): string {
  return `// Written by svc connect opencode --capture; svc disconnect opencode takes it away.
const command = ${JSON.stringify(command)};

export const svc = async ({ client, directory }) => {
  /** By session: what its next prompt begins, if anything. */
  const starts = new Map();
  /** By message: what is known about it. */
  const notes = new Map();
  const textOf = (parts) =>
    parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\\n");
  const tell = async (hook_event_name, sessionID, more) => {
    const payload = { svc_plugin: "opencode", hook_event_name, sessionID, directory, ...more };
    const stdin = new Blob([JSON.stringify(payload)]);
    const child = Bun.spawn(command, { stdin, stdout: "pipe", stderr: "ignore", timeout: 5000 });
    const said = await new Response(child.stdout).text();
    return said === "" ? "" : (JSON.parse(said).context ?? "");
  };
  const isSubagent = async (id) => (await client.session.get({ path: { id } })).data?.parentID !== undefined;
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      try {
        if (await isSubagent(sessionID)) return;
        const source = starts.get(sessionID) ?? (starts.has(sessionID) ? undefined : "startup");
        starts.set(sessionID, undefined);
        const begun = source && (await tell("SessionStart", sessionID, { source }));
        const recalled = await tell("chat.message", sessionID, { prompt: textOf(parts) });
        const note = [begun, recalled].filter(Boolean).join("\\n");
        if (note !== "") notes.set(message.id, note);
      } catch {
        // The assistant goes on without a memory.
      }
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      for (const message of messages) {
        const { id: messageID, sessionID } = message.info;
        const text = notes.get(messageID);
        if (text === undefined) continue;
        const part = { id: "prt_svc_" + messageID, messageID, sessionID, type: "text", synthetic: true, text };
        message.parts = [...message.parts, part];
      }
    },
    event: async ({ event }) => {
      try {
        const { sessionID } = event.properties;
        if (event.type === "session.compacted") starts.set(sessionID, "compact");
        if (event.type !== "session.idle" || (await isSubagent(sessionID))) return;
        const { data = [] } = await client.session.messages({ path: { id: sessionID } });
        const last = data.findLast(({ info }) => info.role === "assistant");
        const answer = textOf(last?.parts ?? []);
        if (answer !== "") await tell("session.idle", sessionID, { answer });
      } catch {
        // The assistant goes on without a memory.
      }
    },
  };
};
`;
}

/** The command of a plugin's text; undefined for the text of another. */
export function commandOfPlugin(text: string): readonly string[] | undefined {
  const words = /^\/\/ Written by svc connect .*\nconst command = (\[.*\]);$/m.exec(text)?.[1];
  return words === undefined ? undefined : JSON.parse(words);
}
