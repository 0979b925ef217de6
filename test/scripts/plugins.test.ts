import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginFiles } from "../../scripts/plugins.ts";
import { VERSION } from "../../src/app/version.ts";
import { hear } from "../../src/capture/clients.ts";

const FOLDER = join(import.meta.dir, "../../clients/plugins");

test("the plugins of Claude Code and Codex are those that bun scripts/plugins.ts writes", async () => {
  const files = await pluginFiles();
  const written = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(FOLDER, name)).isFile())
    .filter((name) => !/^(?:hermes|openclaw)\//.test(name));
  expect(written.sort()).toEqual(Object.keys(files).sort());
  for (const [name, text] of Object.entries(files)) {
    expect(readFileSync(join(FOLDER, name), "utf8")).toBe(text);
  }
});

test("all have the version of the program", () => {
  for (const name of ["openclaw/package.json", "openclaw/openclaw.plugin.json"]) {
    expect(JSON.parse(readFileSync(join(FOLDER, name), "utf8")).version).toBe(VERSION);
  }
  expect(readFileSync(join(FOLDER, "hermes/plugin.yaml"), "utf8")).toContain(
    `version: ${VERSION}\n`,
  );
});

test("their manifests name nothing that is not there", async () => {
  const files = await pluginFiles();
  const { skills, mcpServers, hooks } = JSON.parse(files["codex/.codex-plugin/plugin.json"] ?? "");
  for (const path of [skills, mcpServers, hooks]) {
    const name = path.replace("./", "codex/");
    expect(Object.keys(files).some((file) => file.startsWith(name))).toBeTrue();
  }
  for (const skill of Object.keys(files).filter((name) => name.endsWith("SKILL.md"))) {
    expect(files[skill]).toStartWith(`---\nname: ${skill.split("/").at(-2)}\ndescription: `);
  }
});

describe("the memory slot of OpenClaw", () => {
  type Handler = (event: object, context: object) => Promise<unknown>;

  /** The handlers that the plugin registers, for a program that writes down what it hears. */
  async function plugin(folder: string, answers: string) {
    const [recorder, log] = [join(folder, "svc"), join(folder, "log")];
    writeFileSync(
      recorder,
      `#!/bin/sh
      heard=$(cat)
      printf '%s\\n%s\\n' "$*" "$heard" >> ${log}
      ${answers}`,
      { mode: 0o755 },
    );
    const handlers = new Map<string, Handler>();
    const { default: entry } = await import(join(FOLDER, "openclaw/index.js"));
    entry.register({
      pluginConfig: { program: recorder, pack: "/data/a.pack", userId: "ada" },
      registerMemoryCapability: () => undefined,
      on: (event: string, handler: Handler) => handlers.set(event, handler),
    });
    const lines = (): readonly string[] => readFileSync(log, "utf8").trim().split("\n");
    const heard = () => lines().flatMap((line, at) => (at % 2 === 1 ? [JSON.parse(line)] : []));
    return {
      ask: handlers.get("before_prompt_build")!,
      end: handlers.get("agent_end")!,
      lines,
      heard,
    };
  }

  const CONTEXT = { sessionId: "s1", workspaceDir: "/work" };
  const ASKED = { prompt: "old\nWhat does Ada drink?", currentUserMessage: "What does Ada drink?" };

  test("tells svc hook what a person says and what is answered, and puts what it hears behind the prompt", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-openclaw-"));
    const { ask, end, lines, heard } = await plugin(
      folder,
      `case $heard in
        *SessionStart*) echo '{"context":"known at the start"}' ;;
        *chat.message*) echo '{"context":"known"}' ;;
      esac`,
    );
    expect(await ask(ASKED, CONTEXT)).toEqual({ appendContext: "known at the start\nknown" });
    expect(await ask(ASKED, CONTEXT)).toEqual({ appendContext: "known" });
    expect(await ask(ASKED, { ...CONTEXT, trigger: "cron" })).toBeUndefined();
    expect(
      await ask(ASKED, { ...CONTEXT, inputProvenance: { kind: "inter_session" } }),
    ).toBeUndefined();
    const messages = [
      { role: "assistant", content: [{ type: "text", text: "Tea." }, { type: "toolCall" }] },
    ];
    await end({ messages, success: true }, CONTEXT);
    await end({ messages, success: false }, CONTEXT);
    expect(heard().map(({ hook_event_name }) => hook_event_name)).toEqual([
      "SessionStart",
      "chat.message",
      "chat.message",
      "session.idle",
    ]);
    expect(lines()[0]).toBe("hook openclaw --db-path /data/a.pack --user-id ada");
    expect(heard().map((payload) => hear(payload))).toMatchObject([
      { client: "openclaw", moment: "start", session: "s1", folder: "/work" },
      { moment: "prompt", text: "What does Ada drink?" },
      { moment: "prompt" },
      { client: "openclaw", moment: "answer", text: "Tea." },
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("goes on where the program fails, is missing, or says no JSON", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-openclaw-"));
    const { ask } = await plugin(folder, 'echo "no JSON"; exit 3');
    expect(await ask(ASKED, CONTEXT)).toBeUndefined();
    rmSync(folder, { recursive: true, force: true });
    expect(await ask(ASKED, { ...CONTEXT, sessionId: "s2" })).toBeUndefined();
  });
});
