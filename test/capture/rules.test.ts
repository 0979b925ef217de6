import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hear, replyTo } from "../../src/capture/clients.ts";
import { projectOf } from "../../src/capture/project.ts";
import { isCommand, keepable, questionOf } from "../../src/capture/texts.ts";
import { redact } from "../../src/domain/redaction.ts";
import SET from "./secrets.json";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-capture-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("secrets", () => {
  test("98 % of the made-up secrets are taken out, and 1 % of the other lines are touched at most", () => {
    let [found, touched] = [0, 0];
    const secrets = SET.filter(({ kind }) => kind !== null);
    for (const { kind, parts } of SET) {
      const text = parts.join("");
      const { text: left } = redact(text);
      if (kind === null) touched += left === text ? 0 : 1;
      else found += left.includes(`${parts[1]}${parts[2]}`.slice(4, -4)) ? 0 : 1;
    }
    expect(secrets).toHaveLength(150);
    expect(found / secrets.length).toBeGreaterThanOrEqual(0.98);
    expect(touched / (SET.length - secrets.length)).toBeLessThanOrEqual(0.01);
  });

  test("a password is taken out where other languages name it, and what is said about one stays", () => {
    for (const name of ["Passwort:", "Mein Passwort ist", "Kennwort =", "La contraseña es"]) {
      expect(redact(`${name} Xy7kl92mQ`).text).toBe(`${name} [secret:password]`);
    }
    for (const said of ["Das Passwort ist unsicher", "Passwort: siehe 1Password-Eintrag"]) {
      expect(redact(said).text).toBe(said);
    }
  });

  test("a password of letters and marks is taken out, and what only looks like one stays", () => {
    const secret = "Sommer%" + "WRHjcTgu$";
    for (const line of [
      `mot de passe : ${secret}`,
      `my bank pw is ${secret}`,
      `"pass": "${secret}",`,
      `mysql -u root -p'${secret}' shop`,
      `see postgres://reader:${secret}@db.internal/orders`,
    ]) {
      expect(redact(line).text).not.toContain("WRHjcTgu");
    }
    for (const said of [
      "token: AccessToken!",
      "the pass is Furkapass-Oberalp",
      "mkdir -p 'Photos/Lisbon 2024'",
      "postgres://$" + "{USER}:$" + "{PASS}@db/main",
      "cache_d41d8cd98f00b204e9800998ecf8427e",
    ]) {
      expect(redact(said).text).toBe(said);
    }
  });

  test("a secret leaves its kind and nothing else", () => {
    const { text, counts } = redact("use AKIA" + "ABCDEFGH23456722, then go");
    expect({ text, counts }).toEqual({ text: "use [secret:aws], then go", counts: { aws: 1 } });
  });
});

describe("texts", () => {
  test.each([
    ["one <private>two three</private> four five", "one  four five"],
    ["one two three <PRIVATE>four", "one two three"],
    ["a b c <private>d<private>e</private>f</private> g", "a b c  g"],
    ["<svc-memory note='x'>old news</svc-memory>what is up now", "what is up now"],
    ["<system-reminder>be kind</system-reminder>\nPlease sort it", "Please sort it"],
    ["</private> is a tag that closes nothing", "</private> is a tag that closes nothing"],
  ])("of %j is kept %j", (said, kept) => {
    expect(keepable(said)?.text).toBe(kept);
  });

  test("fewer than three words are not kept, and a long text is cut at 32 KB with a mark", () => {
    expect(keepable("go <private>all of this</private> on")).toBeUndefined();
    const { text = "" } = keepable("ein längerer Satz ".repeat(9000)) ?? {};
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
    expect(text.endsWith("[cut]")).toBeTrue();
    expect(keepable(`see this picture: ${"iVBORw0KGgo".repeat(200)} please`)?.text).toBe(
      "see this picture: [base64] please",
    );
  });

  test("commands and prompts that only go on need no memory", () => {
    expect(isCommand("/compact now")).toBeTrue();
    expect(isCommand("/home/anna/x.ts fails")).toBeFalse();
    expect(["continue", "ok, go ahead", "yes please", "hi"].map(questionOf)).toEqual(
      Array(4).fill(undefined),
    );
    expect(questionOf("What does Anna drink?")).toBe("What does Anna drink?");
  });
});

describe("payloads", () => {
  const common = { session_id: "s", transcript_path: "/t.jsonl", cwd: "/w" };
  // As the documentation of each assistant shows them.
  const PAYLOADS: readonly (readonly [string, string, object, string])[] = [
    [
      "claude-code",
      "prompt",
      {
        ...common,
        hook_event_name: "UserPromptSubmit",
        permission_mode: "default",
        prompt_id: "p",
        prompt: "Hello there",
      },
      "Hello there",
    ],
    [
      "claude-code",
      "answer",
      {
        ...common,
        hook_event_name: "Stop",
        stop_hook_active: false,
        last_assistant_message: "Done",
      },
      "Done",
    ],
    [
      "claude-code",
      "start",
      { ...common, hook_event_name: "SessionStart", source: "startup", model: "m" },
      "",
    ],
    [
      "codex",
      "prompt",
      {
        ...common,
        transcript_path: null,
        hook_event_name: "UserPromptSubmit",
        model: "gpt",
        turn_id: "t",
        permission_mode: "default",
        prompt: "Hi",
      },
      "Hi",
    ],
    [
      "codex",
      "answer",
      {
        ...common,
        hook_event_name: "Stop",
        model: "gpt",
        turn_id: "t",
        stop_hook_active: false,
        last_assistant_message: "Ok",
      },
      "Ok",
    ],
    [
      "gemini",
      "prompt",
      { ...common, hook_event_name: "BeforeAgent", timestamp: "2026", prompt: "Hi" },
      "Hi",
    ],
    [
      "gemini",
      "answer",
      {
        ...common,
        hook_event_name: "AfterAgent",
        timestamp: "2026",
        prompt: "Hi",
        prompt_response: "Ho",
      },
      "Ho",
    ],
    [
      "cursor",
      "prompt",
      {
        conversation_id: "c",
        generation_id: "g",
        model: "m",
        hook_event_name: "beforeSubmitPrompt",
        cursor_version: "2",
        workspace_roots: ["/w"],
        user_email: "a@b.c",
        prompt: "Hi",
        attachments: [],
      },
      "Hi",
    ],
    [
      "cursor",
      "answer",
      {
        conversation_id: "c",
        hook_event_name: "afterAgentResponse",
        cursor_version: "2",
        workspace_roots: ["/w"],
        text: "Ho",
      },
      "Ho",
    ],
    [
      "cursor",
      "prompt",
      {
        conversation_id: "c",
        hook_event_name: "UserPromptSubmit",
        cursor_version: "2",
        workspace_roots: ["/w"],
        prompt: "By the file of another",
      },
      "By the file of another",
    ],
    [
      "vscode",
      "prompt",
      {
        timestamp: "2026",
        cwd: "/w",
        sessionId: "s",
        hookEventName: "UserPromptSubmit",
        transcript_path: "/t",
        prompt: "Hi",
      },
      "Hi",
    ],
    [
      "windsurf",
      "prompt",
      {
        agent_action_name: "pre_user_prompt",
        trajectory_id: "t",
        execution_id: "e",
        tool_info: { user_prompt: "Hi" },
      },
      "Hi",
    ],
    [
      "windsurf",
      "answer",
      {
        agent_action_name: "post_cascade_response",
        trajectory_id: "t",
        tool_info: { response: "Ho" },
      },
      "Ho",
    ],
    [
      "devin",
      "prompt",
      {
        session_id: "s",
        cwd: "/w",
        hook_event_name: "UserPromptSubmit",
        prompt_id: "p",
        prompt: "Hi",
      },
      "Hi",
    ],
    [
      "opencode",
      "prompt",
      {
        svc_plugin: 1,
        hook_event_name: "chat.message",
        sessionID: "s",
        directory: "/w",
        prompt: "Hi",
      },
      "Hi",
    ],
  ];
  test.each(PAYLOADS)("of %s at a %s is known by its fields", (client, moment, payload, text) => {
    expect(hear(payload)).toMatchObject({ client, moment, text });
  });

  test("a subagent, an unknown event, a conversation that has not begun and other JSON say nothing", () => {
    const said = { ...common, hook_event_name: "UserPromptSubmit", prompt: "Hi" };
    const others = [
      { ...said, agent_id: "a" },
      { ...said, hook_event_name: "constructor" },
      { ...said, session_id: "" },
      {
        cursor_version: "1",
        conversation_id: "empty-state-draft",
        hook_event_name: "sessionStart",
      },
      [said],
      "x",
      null,
    ];
    expect(others.map((payload) => hear(payload))).toEqual(others.map(() => undefined));
  });

  test("each gets a text in its own form, and none where it would not reach the model", () => {
    const reply = (payload: object, text?: string) => {
      const heard = hear(payload);
      return heard && replyTo(heard, text);
    };
    const [claude, stop, , , , , , cursor] = PAYLOADS.map(([, , payload]) => payload);
    expect(reply(claude ?? {}, "x")).toEqual({
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "x" },
    });
    expect(reply(claude ?? {})).toBeUndefined();
    // It would make the assistant go on.
    expect(reply(stop ?? {}, "x")).toBeUndefined();
    expect(reply(cursor ?? {}, "x")).toEqual({ continue: true });
  });
});

describe("projects", () => {
  const git = (at: string, ...args: readonly string[]) =>
    Bun.spawnSync(["git", "-C", at, "-c", "user.name=a", "-c", "user.email=a@b.c", ...args]);

  test("worktrees of a repository and clones of a remote are one project", () => {
    const [main, tree, clone] = ["site", "tree", "clone"].map((name) => join(folder, name));
    git(folder, "init", "-q", main ?? "");
    git(main ?? "", "commit", "-q", "--allow-empty", "-m", "x");
    git(main ?? "", "worktree", "add", "-q", tree ?? "");
    mkdirSync(join(tree ?? "", "deep/er"), { recursive: true });
    expect(projectOf(join(tree ?? "", "deep/er"))).toEqual(projectOf(main));
    expect(projectOf(main)?.name).toBe("site");
    git(folder, "init", "-q", clone ?? "");
    git(main ?? "", "remote", "add", "origin", "https://anna:pw@github.com/acme/site.git");
    git(clone ?? "", "remote", "add", "origin", "git@github.com:acme/site.git");
    expect(projectOf(clone)).toEqual(projectOf(tree));
    expect(JSON.stringify(projectOf(main))).not.toContain("pw");
  });

  test("a folder without a repository is its own project, a deleted one is none", () => {
    const plain = join(folder, "plain");
    mkdirSync(plain);
    writeFileSync(join(plain, "x"), "");
    expect(projectOf(plain)?.name).toBe("plain");
    expect(projectOf(join(folder, "gone"))).toBeUndefined();
    expect(projectOf(undefined)).toBeUndefined();
  });
});
