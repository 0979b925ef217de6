/**
 * The HTTP interface under requests that are made from its own document: correct ones, nearly correct ones, and junk.
 * SVC_FUZZ_RUNS: requests for each operation (default 40). SVC_FUZZ_SEED: repeats a run; a failure prints its seed.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { dirname } from "node:path";
import fc from "fast-check";
import { useEngines } from "../../engine/engines.ts";
import { createAnswerCheck, DOCUMENT } from "./fuzz/document.ts";
import { type Bench, complaintAbout, type FuzzAnswer } from "./fuzz/judge.ts";
import { correctRequest, type FuzzRequest, faultyRequest } from "./fuzz/requests.ts";
import { SECRET, settle } from "./fuzz/world.ts";
import { appOf } from "./serving.ts";

const RUNS = Number(process.env["SVC_FUZZ_RUNS"] ?? 40);
const SEED = process.env["SVC_FUZZ_SEED"];
const KEYS = { userKeys: { ada: "key-a", bob: "key-b" } };

setDefaultTimeout(60_000 + RUNS * 5000);

const { open } = useEngines();
const check = createAnswerCheck(DOCUMENT);

type Sender = (request: FuzzRequest) => Promise<FuzzAnswer>;

/** A real engine on a real pack with some memories, its interface, and what it logged as unexpected. */
async function openWorld(key?: string) {
  const { engine, pack } = await open();
  const world = await settle(engine);
  const unexpected: string[] = [];
  const app = appOf({
    engine,
    auth: key === undefined ? {} : KEYS,
    log: (level, message) => {
      if (level === "error") unexpected.push(message);
    },
  });
  const send: Sender = async ({ method, target, headers, body }) => {
    const answer = await app.request(`http://localhost${target}`, {
      method,
      headers: [
        ...(key === undefined ? [] : [["authorization", `Bearer ${key}`] as const]),
        ...headers,
      ].map(([name, value]): [string, string] => [name, value]),
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
    secrets: [dirname(pack.path), process.cwd(), ...(key === undefined ? [] : [SECRET])],
  };
  return { engine, world, send, bench, unexpected };
}

const settings = (runs: number) => ({
  numRuns: runs,
  ...(SEED !== undefined && { seed: Number(SEED) }),
});
