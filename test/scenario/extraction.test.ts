/** The built program extracts with a provider that is scripted by the text of each message. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type ServerProcess, startServer, svcCommand } from "../../scripts/bench/server.ts";
import { refusal } from "../adapters/language-model/provider-server.ts";
import {
  answerTo,
  entry,
  type Rule,
  type Script,
  type ScriptedProvider,
  startScripted,
} from "../adapters/language-model/scripted-provider.ts";
import { usePlace } from "./place.ts";

setDefaultTimeout(120_000);

const KEY = "sk-albatross-in-no-log";
const place = usePlace("extraction");
const providers: ScriptedProvider[] = [];
afterEach(() => {
  for (const provider of providers.splice(0)) provider.stop();
});

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly json: Json };

let packs = 0;

function provide(script: Script = {}): ScriptedProvider {
  const provider = startScripted(script);
  providers.push(provider);
  return provider;
}

async function serve(provider: ScriptedProvider | string, settings: Record<string, string> = {}) {
  packs += 1;
  const pack = place.packIn(`p${packs}`);
  const url = typeof provider === "string" ? provider : provider.url;
  const environment = {
    ...place.environment(),
    SVC_EXTRACTION__PROVIDER: "openai",
    SVC_EXTRACTION__BASE_URL: `${url}/v1`,
    SVC_EXTRACTION__API_KEY: KEY,
    SVC_EXTRACTION__TIMEOUT: "20",
    SVC_EXTRACTION__BATCH_TIMEOUT: "20",
    ...settings,
  };
  const server = await startServer({ pack, environment });
  return { server, pack, environment, ask: askOf(server) };
}

function askOf({ url }: ServerProcess) {
  return async (path: string, body?: object): Promise<Answer> => {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // SAFETY: every answer is an object.
    return { status: response.status, json: (await response.json()) as Json };
  };
}

const message = (content: string, more: object = {}) => ({
  content,
  user_id: "ada",
  session_id: "s",
  ...more,
});
const waiting = (content: string, more: object = {}) =>
  message(content, { wait_for_extraction: true, ...more });
const says =
  (text: string): Rule["reply"] =>
  () =>
    text;
const fails =
  (status: number): Rule["reply"] =>
  () =>
    refusal(status, `the key was ${KEY}`);

/** One of each kind; test/engine/extract/extractor.test.ts has all of them. */
const FAILURES: readonly (readonly [string, Rule["reply"]])[] = [
  ["ValidationError", says('{"turns":[{"turn":1,"facts":[{"subject":')],
  ["AuthenticationError", fails(401)],
  ["RateLimitError", fails(429)],
  ["InternalServerError", fails(500)],
];

describe("a message that is waited for is kept, whatever the provider does", () => {
  test("and is found, with the kind of the failure, which tells no key", async () => {
    const rules = FAILURES.map(([, reply], place) => ({ when: RegExp(`Lisbon ${place}`), reply }));
    const { server, ask } = await serve(provide({ rules }), { SVC_EXTRACTION__MAX_RETRIES: "0" });
    for (const [place, [code]] of FAILURES.entries()) {
      const [content, userId] = [`I live in Lisbon ${place}.`, `ada${place}`];
      const failed = await ask("/v1/ingest", waiting(content, { user_id: userId }));
      expect(failed).toEqual({
        status: 503,
        json: {
          detail: expect.stringContaining("accepted"),
          code: "extraction_failed",
          event_id: expect.any(String),
          reason_code: code,
          accepted: true,
        },
      });
      const id = String(failed.json["event_id"]);
      expect(await ask(`/v1/events/${id}/extraction-status`)).toMatchObject({
        status: 200,
        json: { status: "pending", attempts: 1, last_error: code, phase: "extraction" },
      });
      expect((await ask(`/v1/events/${id}/extraction`)).status).toBe(404);
      const found = await ask("/v1/retrieve", { query: "Lisbon", user_id: userId });
      expect(found.json["results"]).toMatchObject([{ content }]);
    }
    await server.end("SIGTERM");
    expect(server.log()).not.toContain(KEY);
  });
});

describe("what is extracted", () => {
  test("is what the text states: invented and foreign claims are dropped and counted", async () => {
    const invented = { ...Object(entry("I live in Porto.").facts[0]) };
    const rules: Rule[] = [
      {
        when: /Lisbon/,
        reply: (asked) =>
          answerTo(asked, (content) => {
            const { facts, ...rest } = entry(content);
            return { ...rest, facts: [...facts, invented, ...Array(5000).fill(invented)] };
          }),
      },
    ];
    const { ask } = await serve(provide({ rules }));
    const { json } = await ask("/v1/ingest", waiting("I live in Lisbon."));
    const record = await ask(`/v1/events/${json["event_id"]}/extraction`);
    expect(record.json).toMatchObject({
      result: { facts: [{ object: "Lisbon" }] },
      dropped: { too_many: 4502, quote_not_in_text: 499 },
    });
  });

  test("answers questions about amounts and states", async () => {
    const { ask } = await serve(provide());
    for (const amount of ["$500", "$250"]) {
      const said = waiting(`I raised ${amount} for the shelter.`, { first_person_owner: true });
      expect((await ask("/v1/ingest", said)).status).toBe(200);
    }
    const sums = await ask("/v1/quantities/aggregate", {
      user_id: "ada",
      query: { predicates: ["raised"] },
    });
    expect(sums.json["groups"]).toMatchObject([{ values: { unit: "$" }, total: "750" }]);
    const state = await ask("/v1/assertions/state", {
      user_id: "ada",
      query: {
        subject: "I",
        predicate: "raised",
        scope: "personal",
        valid_at: new Date(Date.now() + 60_000).toISOString(),
      },
    });
    expect(state.json).toMatchObject({ status: "multiple" });
  });
});

describe("the queue", () => {
  test("is processed when asked, in the order of the messages, and by owner", async () => {
    const provider = provide();
    const { ask } = await serve(provider);
    for (const place of ["Lisbon", "Porto"])
      await ask("/v1/ingest", message(`I live in ${place}.`));
    await ask("/v1/ingest", { ...message("I live in Faro."), user_id: "bob" });
    const pass = (body: object) => ask("/v1/extractions/process", body);
    expect((await pass({ user_id: "ada", budget_ms: 0 })).json).toEqual({
      processed: 0,
      pending: 2,
      failed: 0,
    });
    expect((await pass({ user_id: "ada", budget_ms: 60_000, other: 1 })).json).toEqual({
      processed: 2,
      pending: 0,
      failed: 0,
    });
    expect(provider.asked.flatMap(({ turns }) => turns.map(({ content }) => content))).toEqual([
      "I live in Lisbon.",
      "I live in Porto.",
    ]);
    expect((await pass({ user_id: "bob", limit: 0 })).json).toMatchObject({ pending: 1 });
    for (const wrong of [{ limit: -1 }, { limit: 1001 }, { budget_ms: -1 }, { user_id: " " }]) {
      expect((await pass({ user_id: "ada", ...wrong })).status).toBe(422);
    }
  });

  test("gives up after four tries, goes on behind that, and tries again when asked", async () => {
    let isDead = true;
    const rules: Rule[] = [{ when: /Lisbon/, reply: () => (isDead ? refusal(500) : undefined) }];
    const { ask, pack, environment, server } = await serve(provide({ rules }));
    const { json } = await ask("/v1/ingest", waiting("I live in Lisbon."));
    const id = String(json["event_id"]);
    const again = (query = "") => ask(`/v1/events/${id}/retry-extraction${query}`, {});
    for (let attempts = 2; attempts <= 4; attempts += 1) {
      expect((await again()).json).toMatchObject({ status: "pending" });
      await ask("/v1/extractions/process", { user_id: "ada" });
    }
    expect((await ask(`/v1/events/${id}/extraction-status`)).json).toMatchObject({
      status: "failed",
      attempts: 4,
      last_error: "InternalServerError",
    });
    expect((await ask("/v1/ingest", waiting("I live in Porto."))).status).toBe(200);
    const failed = await svc(["process-extractions", pack, "--user-id", "ada"], environment);
    expect(failed).toMatchObject({ code: 1, stdout: "0 extracted, 0 pending, 1 failed\n" });
    expect(failed.stderr).toContain(`Why messages have failed: svc doctor ${pack}`);
    isDead = false;
    const queued = await svc(
      ["retry-extraction", pack, id.slice(-10), "--user-id", "ada", "--format", "json"],
      environment,
    );
    expect(JSON.parse(queued.stdout)).toMatchObject({ status: "pending", attempts: 4 });
    const done = await svc(["process-extractions", pack, "--user-id", "ada"], environment);
    expect(done).toMatchObject({ code: 0, stdout: "1 extracted, 0 pending, 0 failed\n" });
    const shown = await svc(
      ["extraction-status", pack, id.slice(-10), "--user-id", "ada"],
      environment,
    );
    expect(shown.stdout).toMatch(/^Status +complete$/m);
    expect((await again("?replan=true")).json).toMatchObject({ status: "complete" });
    expect((await again("?replan=maybe")).status).toBe(422);
    await server.end("SIGTERM");
    const exported = await svc(["export", pack, "--output", "-"], environment);
    expect(exported.stdout).toContain("EXTRACTION_BATCH_RECORDED");
    for (const file of readdirSync(dirname(pack))) {
      expect(readFileSync(`${dirname(pack)}/${file}`, "latin1")).not.toContain(KEY);
    }
    expect(exported.stdout).not.toContain(KEY);
  });
});

async function svc(args: readonly string[], environment: Record<string, string>) {
  const child = Bun.spawn([...svcCommand(), ...args], {
    env: { PATH: process.env["PATH"], SVC_ENCRYPTION_ENABLED: "false", ...environment },
    cwd: place.root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}
