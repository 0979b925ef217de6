/** The processes of a database server stop without ending, as on a machine that hangs: connections stay, and nothing answers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { endAllServers, launchServer, type ServerProcess } from "../../scripts/bench/server.ts";
import { type PostgresServer, startPostgres } from "../../scripts/check/postgres.ts";
import { leftOut } from "../left-out.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "svc-frozen-"));
let database: PostgresServer | undefined;
let pids: readonly number[] = [];

beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  const started = await startPostgres(join(import.meta.dir, "../.."));
  if (typeof started !== "string") database = started;
});
afterAll(async () => {
  signal("SIGCONT");
  await endAllServers();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Tells all processes of the database server. */
function signal(name: "SIGSTOP" | "SIGCONT"): void {
  if (database === undefined) return;
  if (name === "SIGSTOP") {
    const { pid } = database;
    // Itself first, so that no process of it is missed.
    process.kill(pid, name);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    pids = [pid, ...children.map(Number)];
  }
  for (const pid of pids) process.kill(pid, name);
  if (name === "SIGCONT") pids = [];
}

async function serve(): Promise<ServerProcess> {
  return await launchServer({
    pack: join(folder, "server"),
    args: ["serve", "--port", "0", "--log-level", "warn"],
    environment: { SVC_DATABASE_URL: database?.url ?? "", SVC_DATABASE_TIMEOUT_MS: "1000" },
  }).listening;
}

/** Sends a call and waits until the server has it, which answers the next ones in turn. */
async function callUnderWay(server: ServerProcess, path: string, body: object): Promise<Socket> {
  const { hostname, port, host } = new URL(server.url);
  const socket = createConnection(Number(port), hostname);
  await once(socket, "connect");
  const sent = JSON.stringify({ ...body, user_id: "ada" });
  const head = [
    `POST /v1/${path} HTTP/1.1`,
    `Host: ${host}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(sent)}`,
    "Connection: close",
  ];
  await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n${sent}`, resolve));
  // Two, since the first one may be read in the same turn.
  for (let count = 0; count < 2; count += 1) {
    expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
  }
  return socket;
}

async function call(server: ServerProcess, path: string, body: object) {
  const answer = await fetch(`${server.url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, user_id: "ada" }),
  });
  const after = answer.headers.get("retry-after");
  return { status: answer.status, after, body: await answer.text() };
}

describe.skipIf(NO_POSTGRES !== undefined)(`a server of memories${leftOut(NO_POSTGRES)}`, () => {
  test("says 503 with Retry-After while the database is frozen, and goes on afterwards", async () => {
    const server = await serve();
    expect(await call(server, "store", { content: "The kettle is blue." })).toMatchObject({
      status: 200,
    });
    signal("SIGSTOP");
    const calls = await Promise.all([
      ...Array.from({ length: 20 }, (_, place) =>
        call(server, "store", { content: `The kettle number ${place} is red.` }),
      ),
      call(server, "retrieve", { query: "kettle" }),
      fetch(`${server.url}/v1/nodes?user_id=ada`).then(async (answer) => ({
        status: answer.status,
        after: answer.headers.get("retry-after"),
        body: await answer.text(),
      })),
    ]);
    for (const { status, after, body } of calls) {
      expect({ status, after, body }).toMatchObject({
        status: 503,
        after: "1",
        body: expect.stringContaining('"code":"storage_unavailable"'),
      });
    }
    signal("SIGCONT");
    let stored = { status: 503 };
    while (stored.status === 503)
      stored = await call(server, "store", { content: "The kettle is green." });
    expect(stored.status).toBe(200);
    expect((await call(server, "retrieve", { query: "kettle" })).body).toContain(
      "The kettle is green.",
    );
    expect(await server.end("SIGTERM")).toEqual({ exitCode: 0, signal: null });
  });

  test("ends when it is told to, although the database is frozen", async () => {
    const server = await serve();
    signal("SIGSTOP");
    const pending = await callUnderWay(server, "store", { content: "The lamp is on." });
    const answer = text(pending);
    const ended = await server.end("SIGTERM");
    expect(ended).toEqual({ exitCode: 0, signal: null });
    expect(await answer).toStartWith("HTTP/1.1 503 ");
    signal("SIGCONT");
  });
});
