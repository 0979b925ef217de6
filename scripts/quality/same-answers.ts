/**
 * Shows that another executable answers from an old pack as the one that made it:
 * `bun scripts/quality/same-answers.ts OLD NEW`. OLD makes a pack of turns, changes of mind and replaced memories and answers
 * 200 questions in three ways; then NEW opens a copy and is asked the same. Order, ids, scores to four decimals, marks and
 * context must be the same. Ends with 1 and the first differences if they are not. All of it is in English: the words of other
 * languages are compared otherwise than before.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createRandom, question, sentences } from "../bench/sentences.ts";
import { endAllServers, launchServer, type ServerProcess } from "../bench/server.ts";
import { readChanges, readPairs } from "./sets.ts";

const TURNS = 600;
const QUESTIONS = 200;
const OWNER = "ada";
/** Recency counts from here, whenever the question is asked. */
const REFERENCE_TIME = "2031-01-01T00:00:00Z";
const WAYS: readonly Readonly<Record<string, unknown>>[] = [
  { limit: 1000, explain: true },
  { limit: 10, explain: true },
  { limit: 1000, explain: true, retrieval_mode: "explicit" },
];
type Row = Readonly<Record<string, unknown>>;

const [old, fresh] = process.argv.slice(2);
if (old === undefined || fresh === undefined) {
  throw new Error("usage: bun scripts/quality/same-answers.ts OLD NEW");
}
const folder = mkdtempSync(join(tmpdir(), "svc-same-"));

const isEnglish = ({ language }: { readonly language: string }): boolean => language === "en";
const PAIRS = [...readChanges(), ...readPairs()].filter(isEnglish);

async function post(server: ServerProcess, path: string, body: Row): Promise<Row> {
  const answer = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function fill(server: ServerProcess): Promise<void> {
  const random = createRandom(14);
  for (const [index, content] of sentences(random, 0, TURNS).entries()) {
    await post(server, "/v1/store", {
      content,
      user_id: OWNER,
      session_id: `session-${Math.floor(index / 20)}`,
      role: index % 2 === 0 ? "user" : "assistant",
    });
  }
  for (const [index, { first, second }] of PAIRS.entries()) {
    const { node_id } = await post(server, "/v1/store", { content: first, user_id: OWNER });
    const replaced = index % 3 === 0 ? { supersedes: [node_id] } : {};
    await post(server, "/v1/store", { content: second, user_id: OWNER, ...replaced });
  }
}

function questions(): readonly string[] {
  const random = createRandom(41);
  const asked = PAIRS.map((pair) => pair.question);
  const generated = Array.from({ length: QUESTIONS }, () => question(random));
  return [...asked, ...generated].filter((_, index) => index % 2 === 0).slice(0, QUESTIONS);
}

/** The answers as text, one a question and way. */
async function answersOf(server: ServerProcess): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const query of questions()) {
    for (const way of WAYS) {
      const request = { query, user_id: OWNER, reference_time: REFERENCE_TIME, ...way };
      answers.push(kept(await post(server, "/v1/retrieve", request)));
    }
  }
  return answers;
}

/** What must be the same: order, ids, scores to four decimals, marks, values and context. */
function kept({ results, value_bindings, bundle }: Row): string {
  const rows = Array.isArray(results) ? results.map((row) => Object(row)) : [];
  const shown = rows.map(({ node_id, score, strength, older_than }) => ({
    ...{ node_id, score: Number(score).toFixed(4), strength, older_than: older_than ?? null },
  }));
  return JSON.stringify({ shown, value_bindings, context: Object(bundle).rendered_context });
}

async function withServer<T>(
  program: string,
  pack: string,
  use: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await launchServer({ pack, command: [resolve(program)] }).listening;
  const result = await use(server);
  await server.end("SIGTERM");
  return result;
}

function firstDifference(left: string, right: string): string {
  let at = 0;
  while (left[at] === right[at]) at += 1;
  const from = Math.max(0, at - 100);
  return `  ${left.slice(from, at + 100)}\n  ${right.slice(from, at + 100)}`;
}

try {
  const made = join(folder, "old", "memory.pack");
  const copy = join(folder, "new", "memory.pack");
  for (const path of [made, copy]) mkdirSync(resolve(path, ".."));
  await withServer(old, made, fill);
  cpSync(made, copy);
  const before = await withServer(old, made, answersOf);
  const after = await withServer(fresh, copy, answersOf);
  const different = before.flatMap((answer, index) => {
    const now = after[index] ?? "";
    return answer === now ? [] : [firstDifference(answer, now)];
  });
  const results = before.reduce((sum, answer) => sum + (answer.match(/"score":/g) ?? []).length, 0);
  console.log(
    `${before.length} answers to ${questions().length} questions with ${results} scores, ${different.length} differ`,
  );
  for (const shown of different.slice(0, 3)) console.log(shown);
  process.exitCode = different.length === 0 && results > 0 ? 0 : 1;
} finally {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
}
