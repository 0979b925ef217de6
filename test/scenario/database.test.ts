/** The built program on a database: two servers, one that is killed, a database that goes away and comes back. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cleanEnvironment,
  endAllServers,
  launchServer,
  type ServerProcess,
  svcCommand,
} from "../../scripts/bench/server.ts";
import { leftOut } from "../left-out.ts";
import { cuttable, type Line } from "../postgres/cuttable.ts";
import { databaseUrl, dropDatabase, makeDatabase, NO_POSTGRES } from "../postgres/databases.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-database-"));
let line: Line | undefined;
let name = "";
let servers = 0;

beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  name = await makeDatabase();
  line = await cuttable(Number(new URL(databaseUrl(name)).port));
});
afterAll(async () => {
  await endAllServers();
  await line?.cut();
  if (name !== "") await dropDatabase(name);
  rmSync(folder, { recursive: true, force: true });
});

/** The address of the database, through a line that can be cut. */
function address(): string {
  const url = new URL(databaseUrl(name));
  url.port = String(line?.port);
  return url.href;
}

async function serve(
  url = address(),
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  servers += 1;
  return await launchServer({
    pack: join(folder, `server-${servers}`),
    args: ["serve", "--port", "0", "--log-level", "warn"],
    environment: { SVC_DATABASE_URL: url, SVC_API__METRICS: "true", ...environment },
  }).listening;
}

async function call(server: ServerProcess, path: string, body: object) {
  const answer = await fetch(`${server.url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

const store = (server: ServerProcess, content: string, userId = "ada") =>
  call(server, "store", { content, user_id: userId });

/** The answer to a question, as text. */
async function found(server: ServerProcess, query: string): Promise<string> {
  return (await call(server, "retrieve", { query, user_id: "ada" })).body;
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...svcCommand(), ...args], {
    cwd: folder,
    env: { ...cleanEnvironment(), ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

describe.skipIf(NO_POSTGRES !== undefined)(`servers of one database${leftOut(NO_POSTGRES)}`, () => {
  test("is 503 with Retry-After while the database is gone, and answers when it is back", async () => {
    const server = await serve();
    expect((await store(server, "The garden gate is green.")).status).toBe(200);
    await line?.cut();
    const refused = await store(server, "The garden gate is red.");
    expect(refused.status).toBe(503);
    expect(refused.body).toContain('"code":"storage_unavailable"');
    expect(refused.headers.get("retry-after")).toBe("1");
    const stats = await fetch(`${server.url}/v1/stats`);
    expect([stats.status, stats.headers.get("retry-after")]).toEqual([503, "1"]);
    const numbers = await fetch(`${server.url}/metrics`);
    expect(numbers.status).toBe(200);
    expect(await numbers.text()).toContain("svc_ready 0");
    expect((await fetch(`${server.url}/v1/ready`)).status).toBe(503);
    expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
    await line?.mend();
    expect((await store(server, "The garden gate is blue.")).status).toBe(200);
    let ready = 503;
    while (ready === 503) ready = (await fetch(`${server.url}/v1/ready`)).status;
    expect(ready).toBe(200);
    const contents = await found(server, "garden gate");
    expect(contents).toContain("The garden gate is green.");
    expect(contents).not.toContain("The garden gate is red.");
    await server.end("SIGTERM");
  });

  test("is listed by commands, which say what they cannot do with a database", async () => {
    const listed = await run(["list", address(), "--user-id", "ada"]);
    expect(listed.stdout).toContain("The garden gate is green.");
    const withPassword = address().replace("svc@", "svc:hidden@");
    const searched = await run(["search", withPassword, "garden gate", "--user-id", "ada"]);
    expect(searched.stdout).toContain("The garden gate is green.");
    expect(searched.stderr).toContain("Why these");
    expect(searched.stdout + searched.stderr).not.toContain("hidden");
    const compacted = await run(["compact", address()]);
    expect(compacted.code).toBe(2);
    expect(compacted.stderr).toContain("is a database");
    const encrypted = await run(["serve", "--port", "0"], {
      SVC_DATABASE_URL: address(),
      SVC_ENCRYPTION_ENABLED: "true",
    });
    expect(encrypted.code).toBe(2);
    expect(encrypted.stderr).toContain("SVC_ENCRYPTION_ENABLED");
  });

  test("is examined by a server for operators alone, as by svc doctor, without its password", async () => {
    const withPassword = address().replace("svc@", "svc:hidden@");
    const bound = await serve(withPassword, { SVC_API__USER_KEYS: '{"ada":"for-ada"}' });
    const headers = { authorization: "Bearer for-ada" };
    expect((await fetch(`${bound.url}/v1/doctor`, { headers })).status).toBe(403);
    await bound.end("SIGTERM");

    const server = await serve(withPassword);
    const answer = await fetch(`${server.url}/v1/doctor`);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).not.toContain("hidden");
    const { ok, failures, checks } = JSON.parse(text);
    expect([ok, failures]).toEqual([true, 0]);
    expect(checks).toContainEqual({
      name: "tables",
      status: "ok",
      message: expect.stringMatching(/^\d+ tables of version \d+$/),
    });
    const told = await run(["doctor", address(), "--format", "json"]);
    const differing = ["clock", "platform"];
    const alike = (found: { name: string }[]) =>
      found.filter(({ name: check }) => !differing.includes(check));
    expect(alike(checks)).toEqual(alike(JSON.parse(told.stdout).checks));
    await server.end("SIGTERM");
  });
});
