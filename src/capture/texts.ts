import { redact } from "../domain/redaction.ts";

/** Blocks that are never kept: what a person calls private, and what programs put into a conversation, our own notes included. */
const BLOCKS =
  /<(\/?)(private|svc-memory|system-reminder|hook_context|claude-mem-context|hindsight_memories|relevant-memories|task-notification|user-prompt-submit-hook|local-command-stdout|local-command-caveat|command-name|command-message|command-args|environment_context|user_instructions|ide_opened_file|ide_selection)(?:\s[^<>]*)?>/gi;
/** A run of base64 of more than 1 KB. */
const BASE64 =
  /(?:data:[\w/+.-]{1,100};base64,)?[A-Za-z0-9+/_-]{64}(?:\r?\n?[A-Za-z0-9+/_=-]{1,512}){2,}/g;
const BASE64_BYTES = 1024;
/** Bytes of a text that are kept. */
const MAX_BYTES = 32 * 1024;
/** Characters that are looked at. */
const READ_CHARS = 512 * 1024;
const CUT = "\n[cut]";
const LEAST_WORDS = 3;
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu;

/** What is kept of a text, and how many secrets of each kind were taken out. */
export type Kept = { readonly text: string; readonly secrets: Readonly<Record<string, number>> };

/** Takes out of a text what is never stored. @returns undefined if fewer than three words are left */
export function keepable(said: string): Kept | undefined {
  const open = withoutBlocks(said.slice(0, READ_CHARS).toWellFormed())
    .replaceAll(BASE64, (run) => (run.length > BASE64_BYTES ? "[base64]" : run))
    .trim();
  const { text, counts: secrets } = redact(open);
  if ((text.match(WORD)?.length ?? 0) < LEAST_WORDS) return undefined;
  return { text: cut(text), secrets };
}

/** An unclosed block reaches to the end; blocks inside one another are one. */
function withoutBlocks(text: string): string {
  let [kept, at] = ["", 0];
  const open: string[] = [];
  for (const match of text.matchAll(BLOCKS)) {
    const name = (match[2] ?? "").toLowerCase();
    const isEnd = match[1] === "/";
    if (!isEnd) {
      if (open.length === 0) kept += text.slice(at, match.index);
      open.push(name);
    } else if (open.includes(name)) {
      open.splice(open.lastIndexOf(name));
      at = match.index + match[0].length;
    }
  }
  return open.length > 0 ? kept : kept + text.slice(at);
}

function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_BYTES) return text;
  const bytes = Buffer.from(text).subarray(0, MAX_BYTES - CUT.length);
  return bytes.toString("utf8").replace(/\uFFFD+$/, "") + CUT;
}

/** Characters of a prompt below which nothing is looked up. */
const LEAST_PROMPT = 12;
/** Characters of a prompt that are searched with. */
const QUERY_CHARS = 800;
const CONTINUE =
  /^(?:(?:please|continue|go on|go ahead|proceed|keep going|carry on|try again|do it|do that|retry|yes|no|ok(?:ay)?|sure|great|thanks?|thank you|bitte|weiter|mach weiter|ja|nein|danke)\b[\s\p{P}]*)+$/iu;

/** A command of the assistant, such as `/clear`; a path is none. */
export function isCommand(text: string): boolean {
  return /^\s*[/!][\w:-]+(?:\s|$)/.test(text);
}

/** What is searched for a prompt. @returns undefined if it needs no memory */
export function questionOf(prompt: string): string | undefined {
  const text = withoutBlocks(prompt.slice(0, READ_CHARS)).trim();
  if (text.length < LEAST_PROMPT || CONTINUE.test(text)) return undefined;
  return text.slice(0, QUERY_CHARS).toWellFormed();
}
