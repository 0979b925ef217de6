import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { createWordDesk, type Desk } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(() => {
  desk = createWordDesk();
});
afterAll(() => desk.remove());

/** Reads until a line matches and gives its first group. */
async function awaitLine(stream: ReadableStream<Uint8Array>, wanted: RegExp): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the program ended without that line:\n${text}`);
      text += decoder.decode(value, { stream: true });
      const match = wanted.exec(text);
      if (match !== null) return match[1] ?? "";
    }
  } finally {
    reader.releaseLock();
  }
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "serve answers, and ends cleanly on %s",
  async (signal) => {
    const server = desk.start(["serve", "--db-path", `./${signal}.pack`, "--port", "0"]);
    const ready = new RegExp(
      `^svc \\S+ listening on (http://127\\.0\\.0\\.1:\\d+) {2}pack \\./${signal}\\.pack$`,
      "m",
    );
    const url = await awaitLine(server.stderr, ready);
    const body = { items: [{ content: "Anna prefers tea" }], user_id: "anna" };
    const admitted = await fetch(`${url}/v1/ingest/fast`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(admitted.status).toBe(200);
    server.kill(signal);
    expect(await server.exited).toBe(0);
    expect(await new Response(server.stdout).text()).toBe("");
    const { stdout } = await desk.run(["info", `${signal}.pack`, "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ event_count: 1 });
    expect(readdirSync(desk.folder).filter((name) => name.endsWith("-wal"))).toEqual([]);
  },
);

test.each([{ isOn: true }, { isOn: false }])(
  "serve says where the inspector is, if it is on: $isOn",
  async ({ isOn }) => {
    const env = isOn ? {} : { SVC_API__INSPECTOR: "false" };
    const server = desk.start(["serve", "--db-path", "shown.pack", "--port", "0"], env);
    const decoder = new TextDecoder();
    let told = "";
    for await (const chunk of server.stderr) {
      told += decoder.decode(chunk, { stream: true });
      if (told.includes("/docs in")) server.kill("SIGTERM");
    }
    const url = /listening on (\S+)/.exec(told)?.[1];
    expect(told).toContain(`Open ${url}/docs in a browser`);
    expect(told.includes(`Open ${url}/inspect/ to look`)).toBe(isOn);
  },
);

test("serve writes its log as JSON, one object a line, and answers /metrics, if told to", async () => {
  const env = { SVC_LOG_FORMAT: "json", SVC_API__METRICS: "true" };
  const server = desk.start(["serve", "--db-path", "logged.pack", "--port", "0"], env);
  const url = await awaitLine(server.stderr, /listening on (http:[^ ]+) /);
  expect((await fetch(`${url}/v1/stats`)).status).toBe(200);
  const numbers = await (await fetch(`${url}/metrics`)).text();
  expect(numbers).toContain(
    'svc_http_requests_total{method="GET",route="/v1/stats",status="200"} 1',
  );
  server.kill("SIGTERM");
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of server.stderr) text += decoder.decode(chunk, { stream: true });
  const entries: unknown[] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries).toContainEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    level: "info",
    message: "request",
    method: "GET",
    route: "/v1/stats",
    status: 200,
    ms: expect.any(Number),
  });
  expect(entries.at(-1)).toMatchObject({ level: "info", message: "svc stopped" });
});

test("serve on a taken port fails at once and makes no pack", async () => {
  const holder = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("mine") });
  const port = String(holder.port);
  const outcome = await desk.run(["serve", "--db-path", "late.pack", "--port", port]);
  await holder.stop(true);
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain(`127.0.0.1:${port} is already in use`);
  expect(existsSync(join(desk.folder, "late.pack"))).toBeFalse();
});

test("a command that waits ends with 130 on Ctrl-C and has stored nothing", async () => {
  await desk.run(["init", "quiet.pack"]);
  const waiting = desk.start(["store", "quiet.pack", "-"]);
  await Bun.sleep(1000);
  waiting.kill("SIGINT");
  expect(await waiting.exited).toBe(130);
  const { stdout } = await desk.run(["info", "quiet.pack", "--format", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ event_count: 0 });
});

test("serve uses the model that another process gave its pack, without a restart", async () => {
  const pack = "followed.pack";
  await desk.run(["init", pack, "--owner", "anna", "--model", "english"]);
  await desk.store(pack, "anna", "Our dog Coco is afraid of fireworks", "Rent is due on the first");
  const server = desk.start(["serve", "--db-path", pack, "--port", "0"]);
  const url = await awaitLine(server.stderr, /listening on (\S+)/);
  const ask = async () => {
    const answer = await fetch(`${url}/v1/retrieve`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "Wovor hat unser Hund Angst?", user_id: "anna" }),
    });
    // SAFETY: the form of an answer, of which the test reads these members.
    const { results, metrics } = (await answer.json()) as {
      readonly results: readonly { readonly content: string }[];
      readonly metrics: { readonly embedding_mismatch: boolean };
    };
    return { isMismatch: metrics.embedding_mismatch, first: results[0]?.content };
  };
  expect((await ask()).isMismatch).toBe(false);
  expect((await desk.run(["rebuild", pack, "--model", "multilingual"])).code).toBe(0);
  expect((await ask()).isMismatch).toBe(true);
  // Those that come at once wait for the model, and all get an answer.
  const right = { isMismatch: false, first: "Our dog Coco is afraid of fireworks" };
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([right, right, right]);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

/** An assistant that has opened its session; `say` calls a tool and gives the answer. */
async function assistant(args: readonly string[], cwd?: string) {
  const server = desk.start(["mcp", ...args], {}, cwd);
  let id = 0;
  const send = (message: object): void => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    server.stdin.flush();
  };
  const ask = async (method: string, params: object): Promise<string> => {
    id += 1;
    send({ id, method, params });
    return await awaitLine(server.stdout, new RegExp(`^(.*"id":${id}\\b.*)\\n`, "m"));
  };
  const clientInfo = { name: "test", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    call: (name: string, given: object) => ask("tools/call", { name, arguments: given }),
    leave: async (): Promise<number> => {
      await server.stdin.end();
      return await server.exited;
    },
  };
}

describe("an assistant whose pack is not where it was", () => {
  const QUESTION = { query: "tea" };

  test("is told where it was and makes none, if it was connected, and finds it once it is back", async () => {
    const path = join(desk.folder, "connected.pack");
    const { call, leave } = await assistant(["--db-path", path, "--no-create"]);
    for (const _ of [1, 2]) {
      const answer = await call("memory_store", { content: "Anna prefers tea" });
      expect(answer).toContain('"isError":true');
      expect(answer).toContain(`${path}: this assistant was connected to the pack that was here`);
    }
    expect(existsSync(path)).toBeFalse();
    await desk.run(["init", "connected.pack"]);
    expect(await call("memory_retrieve", QUESTION)).not.toContain('"isError":true');
    expect(await leave()).toBe(0);
  });

  test("is told once that its memory is new and empty, if it makes one", async () => {
    const path = join(desk.folder, "fresh.pack");
    const { call, leave } = await assistant(["--db-path", path]);
    expect(await call("memory_retrieve", QUESTION)).toContain(`New, empty memory at ${path}`);
    expect(await call("memory_retrieve", QUESTION)).not.toContain("New, empty memory");
    expect(await leave()).toBe(0);
    const later = await assistant(["--db-path", path]);
    expect(await later.call("memory_retrieve", QUESTION)).not.toContain("New, empty memory");
    expect(await later.leave()).toBe(0);
  });
});

describe("a server whose working folder was removed meanwhile", () => {
  beforeAll(async () => {
    await desk.run(["init", "gone.pack"]);
    await desk.store("gone.pack", "anna", "Anna prefers tea");
  });

  test("is still examined", async () => {
    const gone = join(desk.folder, "gone");
    mkdirSync(gone);
    const server = desk.start(["serve", "--db-path", "../gone.pack", "--port", "0"], {}, gone);
    const url = await awaitLine(server.stderr, /listening on (\S+)/);
    rmdirSync(gone);
    const answer = await fetch(`${url}/v1/doctor`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { failures: 0 }]);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
  });

  test("still opens the pack of an assistant", async () => {
    const gone = join(desk.folder, "gone");
    mkdirSync(gone);
    const { call, leave } = await assistant(["--db-path", join(desk.folder, "gone.pack")], gone);
    rmdirSync(gone);
    const answer = await call("memory_retrieve", { query: "tea", user_id: "anna" });
    expect(answer).toContain("Anna prefers tea");
    expect(await leave()).toBe(0);
  });
});
