/** Keys of the HTTP interface are neither printed nor logged, whatever is asked for and whatever is wrong with them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { loadConfig } from "../../../src/config/load.ts";
import { describeSettings } from "../../../src/config/schema.ts";
import { outcomesOf } from "./many-commands.ts";
import { createWordDesk, type Desk, type Outcome } from "./run-svc.ts";

// Each test starts processes.
setDefaultTimeout(120_000);

const MARK = "Zq7marker";
const KEY = `${MARK}-ada`;
const OTHER = `${MARK}-bob`;

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  expect((await desk.run(["init", "plain.pack", "--plain"])).code).toBe(0);
});
afterAll(() => desk.remove());

function expectSilent({ stdout, stderr }: Outcome): void {
  expect(stdout).not.toContain(MARK);
  expect(stderr).not.toContain(MARK);
}

test("svc keys makes a key once, lists names, and revokes", async () => {
  const env = { SVC_API__KEYS_FILE: join(desk.folder, "keys.json") };
  const made = await desk.run(["keys", "add", "laptop", "--user-id", "ada"], { env });
  const listed = await desk.run(["keys", "list"], { env });
  const neither = await desk.run(["keys", "add", "phone"], { env });
  const revoked = await desk.run(["keys", "revoke", "laptop"], { env });
  const left = await desk.run(["keys", "list", "--format", "json"], { env });
  expect(made.stdout).toMatch(/^svc_[\w-]{43}\n$/);
  expect(listed.stdout).toMatch(/laptop +ada/);
  expect(listed.stdout).not.toContain(made.stdout.trim());
  expect([made, listed, neither, revoked, left].map(({ code }) => code)).toEqual([0, 0, 2, 0, 0]);
  expect(JSON.parse(left.stdout)).toEqual({ keys: [] });
});

const REFUSED: readonly { name: string; env: Readonly<Record<string, string>> }[] = [
  { name: "JSON that does not end", env: { SVC_API_USER_KEYS: `{"ada":"${KEY}"` } },
  { name: "a list of keys", env: { SVC_API_USER_KEYS: `["${KEY}"]` } },
  { name: "a key alone", env: { SVC_API_USER_KEYS: KEY } },
  { name: "a key within an object", env: { SVC_API_USER_KEYS: `{"ada":{"key":"${KEY}"}}` } },
  { name: "a blank key beside another", env: { SVC_API_USER_KEYS: `{"a":"","b":"${KEY}"}` } },
  { name: "equal keys", env: { SVC_API_USER_KEYS: `{"a":"${KEY}","b":"${KEY}"}` } },
  { name: "keys equal but for blanks", env: { SVC_API_USER_KEYS: `{"a":"${KEY}","b":" ${KEY}"}` } },
  { name: "a key beyond ASCII", env: { SVC_API_API_KEY: `${KEY}ü` } },
  {
    name: "one key of an operator and a user",
    env: { SVC_API_API_KEY: KEY, SVC_API_USER_KEYS: `{"bob":"${KEY}"}` },
  },
  { name: "a group that is no JSON", env: { SVC_API: `{"api_key":"${KEY}"` } },
  { name: "a group with a misspelt name", env: { SVC_API: `{"api_kye":"${KEY}"}` } },
  {
    name: "a key of /metrics that opens memories as well",
    env: { SVC_API_USER_KEYS: `{"bob":"${KEY}"}`, SVC_API__METRICS_KEY: KEY },
  },
  { name: "a misspelt variable", env: { SVC_API_KEYS: KEY } },
  { name: "a key where none belongs", env: { SVC_API__API_KEY__ADA: KEY } },
  { name: "a key of /metrics", env: { SVC_API__METRICS: "true", SVC_API__METRICS_KEY: `${KEY}ü` } },
];

describe("a server with unusable keys does not start and does not show them", () => {
  const args = ["serve", "--db-path", "new.pack", "--port", "0"];
  let outcomes: readonly Outcome[] = [];
  beforeAll(async () => {
    outcomes = await outcomesOf(
      desk.folder,
      REFUSED.map(({ env }) => ({ args, env })),
    );
  });

  test.each(REFUSED.map(({ name }, at) => ({ name, at })))("$name", ({ at }) => {
    const outcome = outcomes[at] ?? { code: -1, stdout: "", stderr: "" };
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/SVC_API|api\./);
    expectSilent(outcome);
  });

  test("nor when they stand in .env", async () => {
    const path = join(desk.folder, ".env");
    writeFileSync(path, `SVC_API_USER_KEYS={"ada":"${KEY}"\n`);
    const outcome = await desk.run(args);
    rmSync(path);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("SVC_API_USER_KEYS (in .env)");
    expectSilent(outcome);
  });
});

test.each([
  "--help",
  "doctor plain.pack --format json",
  "info plain.pack --format json",
  "serve --db-path plain.pack/inside --port 0",
])("svc %s shows no key", async (line) => {
  const env = { SVC_API_USER_KEYS: JSON.stringify({ ada: KEY, bob: OTHER }) };
  expectSilent(await desk.run(line.split(" "), { env }));
});

test("a running server shows no key, neither good ones nor wrong ones", async () => {
  const env = { SVC_API_USER_KEYS: JSON.stringify({ ada: KEY, bob: OTHER }) };
  const child = desk.start(["serve", "--db-path", "plain.pack", "--port", "0"], env);
  let log = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  for (let waits = 0; !log.includes("http://") && waits < 1500; waits += 1) await Bun.sleep(20);
  const url = /http:\/\/\S+/.exec(log)?.[0] ?? "";
  const answers: string[] = [];
  const statuses: number[] = [];
  const ask = async (path: string, headers: Record<string, string>, init: RequestInit = {}) => {
    const answer = await fetch(url + path, { ...init, headers });
    statuses.push(answer.status);
    answers.push(JSON.stringify([...answer.headers]) + (await answer.text()));
  };
  const bearer = { authorization: `Bearer ${KEY}` };
  await ask("/v1/stats?user_id=ada", bearer);
  await ask("/v1/stats", { authorization: `Bearer ${MARK}-wrong` });
  await ask("/v1/stats", { authorization: `Basic ${MARK}` });
  await ask("/openapi.json", bearer);
  await ask("/v1/nope", bearer);
  await ask(
    "/v1/store",
    { ...bearer, "content-type": "application/json" },
    {
      method: "POST",
      body: "{",
    },
  );
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await reading;
  expect(statuses).toEqual([200, 401, 401, 200, 404, 422]);
  expect(log).toContain("route=/v1/stats status=401");
  expect(answers.join()).not.toContain(MARK);
  expectSilent({ code: 0, stdout: await new Response(child.stdout).text(), stderr: log });
});

test("no printed form of the settings shows a secret, and no refusal does", () => {
  const secrets = describeSettings().filter(({ isSecret }) => isSecret);
  expect(secrets.length).toBeGreaterThan(5);
  for (const { environment } of secrets) {
    for (const value of [MARK, JSON.stringify({ owner: MARK }), `{"${"owner"}":"${MARK}"`]) {
      const shown = attempt({ [environment[0]]: value });
      expect(`${environment[0]}: ${shown}`).not.toContain(MARK);
    }
  }
});

function attempt(environment: Record<string, string>): string {
  try {
    const { config, warnings } = loadConfig({ environment, folder: desk.folder });
    return [inspect(config, { depth: 9 }), JSON.stringify(config), String(warnings)].join("\n");
  } catch (error) {
    return inspect(error, { depth: 9 });
  }
}

/** The setting `api.allowed_hosts`, from the environment to the answer. */
const load = (hosts: string) =>
  loadConfig({ environment: { SVC_API_ALLOWED_HOSTS: hosts }, folder: desk.folder }).config;

test("names of the server and addresses are read without regard to case", () => {
  const hosts = '["Memory.Example", "192.168.1.5", "[fd00::1]", "my_host-2"]';
  expect(load(hosts).api.allowed_hosts).toEqual([
    "memory.example",
    "192.168.1.5",
    "[fd00::1]",
    "my_host-2",
  ]);
});

test.each(["https://memory.example", "memory.example:443", "memory.example/", "*", "", "fd00::1"])(
  "%p is no host name",
  (host) => {
    expect(() => load(JSON.stringify([host]))).toThrow("SVC_API_ALLOWED_HOSTS: expected JSON list");
  },
);

test("a server on a loopback address answers to the names that it was given, and to no others", async () => {
  const child = desk.start(["serve", "--db-path", "m.pack", "--port", "0"], {
    SVC_API_ALLOWED_HOSTS: '["memory.example"]',
  });
  let log = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    log += decoder.decode(chunk, { stream: true });
    if (log.includes("http://")) break;
  }
  const url = /http:\/\/\S+/.exec(log)?.[0];
  const status = async (host: string) =>
    (await fetch(`${url}/v1/stats`, { headers: { host } })).status;
  expect(await status("memory.example")).toBe(200);
  expect(await status("evil.test")).toBe(421);
  child.kill("SIGTERM");
  await child.exited;
});
