/**
 * Measures how well memories in ten languages are found: `bun scripts/quality/languages.ts`. Stores 200 memories of one person in
 * a new pack of each model, through a server of the built executable (or of `SVC_EXE`), and asks about each in its own language
 * and in another one, with each fusion. Prints how often the right memory is first, and among the first five.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { endAllServers, type ServerProcess, startServer } from "../bench/server.ts";
import { type ForeignFact, readLanguages } from "./sets.ts";

const OWNER = "anna";
const MODELS = ["english", "multilingual"] as const;
const FUSIONS = ["rrf", "relative", "adaptive", "weighted"] as const;
/** Results that are looked at. */
const SHOWN = 5;

const WORK = z.object({ pending: z.number(), failed: z.number() });
const ANSWER = z.object({ results: z.array(z.object({ content: z.string() })) });

async function post(server: ServerProcess, path: string, body: object): Promise<unknown> {
  const answer = await fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ user_id: OWNER, ...body }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

async function remember(server: ServerProcess, facts: readonly ForeignFact[]): Promise<void> {
  const items = facts.map(({ content }) => ({ content, role: "user" }));
  await post(server, "/v1/ingest/fast", { items });
  for (let pending = 1; pending > 0; ) {
    const work = WORK.parse(
      await post(server, "/v1/materializations/process", { budget_ms: 5000 }),
    );
    if (work.failed > 0) throw new Error(`${work.failed} memories could not be indexed`);
    ({ pending } = work);
  }
}

/** The place of a memory among the results of a question, from 0; -1: not among the first. */
async function placeOf(server: ServerProcess, content: string, query: string): Promise<number> {
  const { results } = ANSWER.parse(await post(server, "/v1/retrieve", { query }));
  return results.slice(0, SHOWN).findIndex((result) => result.content === content);
}

async function askAll(
  server: ServerProcess,
  facts: readonly ForeignFact[],
  ask: (fact: ForeignFact) => string,
): Promise<string> {
  const places: number[] = [];
  for (const fact of facts) places.push(await placeOf(server, fact.content, ask(fact)));
  const first = places.filter((place) => place === 0).length;
  return `${first} / ${places.filter((place) => place >= 0).length}`;
}

async function measure(
  folder: string,
  model: (typeof MODELS)[number],
  facts: readonly ForeignFact[],
): Promise<void> {
  const pack = join(folder, `${model}.pack`);
  for (const fusion of FUSIONS) {
    const environment = { SVC_EMBEDDING_MODEL_NAME: model, SVC_SCORING__FUSION: fusion };
    const server = await startServer({ pack, environment });
    if (fusion === FUSIONS[0]) await remember(server, facts);
    const others = facts.filter(({ language }) => language !== "en");
    const cells = [
      await askAll(server, facts, ({ question }) => question),
      await askAll(server, facts, ({ foreign }) => foreign),
      await askAll(
        server,
        others.filter(({ foreignLanguage }) => foreignLanguage === "en"),
        ({ foreign }) => foreign,
      ),
    ];
    console.log(`| ${model} | ${fusion} | ${cells.join(" | ")} |`);
    await server.end("SIGTERM");
  }
}

const folder = mkdtempSync(join(tmpdir(), "svc-languages-"));
try {
  const facts = readLanguages();
  const english = facts.filter(({ foreignLanguage }) => foreignLanguage === "en").length;
  console.log(
    `| model | fusion | same language (${facts.length}) | another language (${facts.length}) | of these, asked in English (${english}) |`,
  );
  console.log("|---|---|---|---|---|");
  for (const model of MODELS) await measure(folder, model, facts);
} finally {
  await endAllServers();
  rmSync(folder, { recursive: true, force: true });
}
