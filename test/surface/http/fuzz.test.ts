/**
 * The HTTP interface under requests that are made from its own document: correct ones, nearly correct ones, and junk.
 * SVC_FUZZ_RUNS: requests for each operation (default 8). SVC_FUZZ_SEED: repeats a run; a failure prints its seed.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { dirname } from "node:path";
import fc from "fast-check";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { useEngines } from "../../engine/engines.ts";
import { createAnswerCheck, DOCUMENT } from "./fuzz/document.ts";
import { hostileText } from "./fuzz/hostile.ts";
import { type Bench, complaintAbout, type FuzzAnswer } from "./fuzz/judge.ts";
import { correctRequest, type FuzzRequest, faultyRequest } from "./fuzz/requests.ts";
import { type Known, plainText } from "./fuzz/values.ts";
import { settle } from "./fuzz/world.ts";
import { appOf } from "./serving.ts";

const RUNS = Number(process.env["SVC_FUZZ_RUNS"] ?? 8);
const SEED = process.env["SVC_FUZZ_SEED"];

/** Milliseconds that no answer takes, on however busy a machine. */
const SLOW_MS = 20_000;

setDefaultTimeout(60_000 + RUNS * 5000);

const { open } = useEngines();
const check = createAnswerCheck(DOCUMENT);

type Sender = (request: FuzzRequest) => Promise<FuzzAnswer>;

/** A real engine on a real pack with some memories, its interface, and what it logged as unexpected. */
async function openWorld() {
  const { engine, pack } = await open();
  const world = await settle(engine);
  const unexpected: string[] = [];
  const app = appOf({
    engine,
    log: (level, message) => {
      if (level === "error") unexpected.push(message);
    },
  });
  const send: Sender = async ({ method, target, headers, body }) => {
    const answer = await app.request(`http://localhost${target}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    });
    return {
      status: answer.status,
      contentType: answer.headers.get("content-type"),
      text: await answer.text(),
    };
  };
  const bench: Bench = {
    document: DOCUMENT,
    check,
    secrets: [folderOf(pack), process.cwd()],
  };
  return { world, send, bench, unexpected };
}

function folderOf({ layout }: SqlitePack): string {
  return dirname(layout.kind === "file" ? layout.path : layout.databasePath);
}

const settings = (runs: number) => ({
  numRuns: runs,
  ...(SEED !== undefined && { seed: Number(SEED) }),
});

/** Sends requests until one is answered wrongly; fast-check then looks for the smallest such request. */
async function expectSound(
  { send, bench }: Pick<Awaited<ReturnType<typeof openWorld>>, "send" | "bench">,
  requests: fc.Arbitrary<FuzzRequest>,
  runs: number,
  seen: (request: FuzzRequest, answer: FuzzAnswer) => void = () => {},
): Promise<void> {
  const property = fc.asyncProperty(requests, async (request) => {
    const started = performance.now();
    const answer = await send(request);
    seen(request, answer);
    const ms = performance.now() - started;
    const complaint =
      complaintAbout(bench, request, answer) ?? (ms > SLOW_MS ? "is slow" : undefined);
    if (complaint !== undefined) throw new Error(`${request.operation} ${complaint}`);
  });
  await fc.assert(property, settings(runs));
}

function getOf(target: string): FuzzRequest {
  return { operation: target, method: "GET", target, headers: [], body: undefined };
}

function postOf(target: string, body: object): FuzzRequest {
  const headers = [["content-type", "application/json"]] as const;
  return { operation: target, method: "POST", target, headers, body: JSON.stringify(body) };
}

/** Whether it still works as if nothing had happened. */
async function expectAlive(send: Sender): Promise<void> {
  const health = await send(getOf("/v1/health"));
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok","version":"9.9.9"}' });
  const answer = await send(postOf("/v1/retrieve", { query: "green tea", user_id: "ada" }));
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text).results.length).toBeGreaterThan(0);
}

/** Requests of every operation, one kind after the other in no order. */
function ofAll(make: typeof correctRequest, known: Known): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(...DOCUMENT.operations.map((operation) => make(DOCUMENT, known, operation)));
}

const ALL = DOCUMENT.operations.length * RUNS;

/**
 * Nothing is extracted by this server, so there is nothing of it to read; only the program examines its pack; no request brings a
 * picture; and no random text is the confirmation of a preview.
 */
const NEVER_FOUND = [
  ...["get_extraction", "extraction_status", "retry_extraction"],
  ...["examine", "get_blob", "forget_node"],
];
/** Requests of one operation among which one is surely done. */
const PATIENCE = 500;

test("correct requests are answered as documented, and of every operation some are done", async () => {
  const opened = await openWorld();
  const done = new Set<string>(NEVER_FOUND);
  const note = ({ operation }: FuzzRequest, answer: FuzzAnswer): void => {
    opened.world.learn(answer);
    if (answer.status === 200) done.add(operation);
  };
  await expectSound(opened, ofAll(correctRequest, opened.world.known), ALL, note);
  await opened.world.contest();
  for (const operation of DOCUMENT.operations) {
    const requests = correctRequest(DOCUMENT, opened.world.known, operation);
    for (const request of done.has(operation.id) ? [] : fc.sample(requests, PATIENCE)) {
      note(request, await opened.send(request));
      if (done.has(operation.id)) break;
    }
  }
  await expectAlive(opened.send);
  expect(opened.unexpected).toEqual([]);
  expect(DOCUMENT.operations.map(({ id }) => id).filter((id) => !done.has(id))).toEqual([]);
});

test("faulty requests are refused as documented, and nothing breaks", async () => {
  const opened = await openWorld();
  await expectSound(opened, ofAll(faultyRequest, opened.world.known), ALL, (_, answer) => {
    opened.world.learn(answer);
  });
  await expectAlive(opened.send);
  expect(opened.unexpected).toEqual([]);
});

test("what a store accepts is what its event holds, to the last character", async () => {
  const opened = await openWorld();
  const key = fc.oneof(fc.constantFrom("__proto__", "constructor", "", "a.b"), hostileText);
  const value = fc.oneof(hostileText, fc.jsonValue({ maxDepth: 3 }));
  const object = fc.dictionary(
    key.map((text) => text.slice(0, 50)),
    value,
    { maxKeys: 4, noNullPrototype: true },
  );
  const given = fc.record({
    content: fc.oneof(hostileText, plainText),
    // The check of bodies leaves a key `__proto__` of the metadata themselves out, and none within them.
    metadata: fc.record({
      constructor: object,
      "": value,
      list: fc.array(object, { maxLength: 2 }),
    }),
  });
  const property = fc.asyncProperty(given, async ({ content, metadata }) => {
    // As a receiver reads it: negative zero is zero.
    const sent = JSON.parse(JSON.stringify({ content, metadata }));
    const stored = await opened.send(postOf("/v1/store", { ...sent, user_id: "ada" }));
    if (stored.status === 422) return;
    const eventId = JSON.parse(stored.text).event_id;
    const event = await opened.send(getOf(`/v1/events/${eventId}`));
    const { content: kept, metadata: keptMetadata } = JSON.parse(event.text);
    expect(kept).toBe(sent.content);
    expect(JSON.stringify(keptMetadata)).toBe(JSON.stringify(sent.metadata));
  });
  await fc.assert(property, settings(RUNS * 2));
});
