import { afterEach } from "bun:test";
import { connect } from "node:net";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { LogLevel } from "../../../src/surface/contract/core/log.ts";
import { createHttpApp, type HttpAppDeps } from "../../../src/surface/http/app.ts";
import type { HttpApp } from "../../../src/surface/http/app-env.ts";
import {
  type HttpServer,
  type HttpServerDeps,
  startHttpServer,
} from "../../../src/surface/http/server.ts";
import { until } from "../../until.ts";
import { fakeEngine } from "../fake-engine.ts";

const NO_CORS = { origins: [], allowCredentials: false };

/** A line of a log: level, message, fields. */
export type LogLine = {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
};

type AppSetup = Partial<Omit<HttpAppDeps, "engine">> & {
  /** Default: one of which no method may be called. */
  readonly engine?: MemoryEngine;
};

/** The interface without a socket, as a page of the same machine would reach it. */
export function appOf({ engine = fakeEngine(), ...rest }: AppSetup = {}): HttpApp {
  return createHttpApp({
    engine: () => engine,
    version: "9.9.9",
    auth: {},
    cors: NO_CORS,
    log: () => {},
    ...rest,
  });
}

/** A request with a JSON body; a text is sent as it is. */
export function post(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

export type ServerSetup = Partial<Omit<HttpServerDeps, "openEngine" | "log">> & {
  readonly engine?: MemoryEngine;
};
export type LoggingServer = HttpServer & {
  /** Everything that was logged so far. */
  readonly lines: readonly LogLine[];
};

/** Servers on free ports of this machine; each is stopped after its test. */
export function useServers(): (setup?: ServerSetup) => Promise<LoggingServer> {
  const servers: HttpServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });
  return async ({ engine = fakeEngine(), ...rest } = {}) => {
    const lines: LogLine[] = [];
    const server = await startHttpServer({
      host: "127.0.0.1",
      port: 0,
      allowUnauthenticatedExternalBind: false,
      version: "9.9.9",
      auth: {},
      cors: NO_CORS,
      drainMs: 1000,
      ...rest,
      log: (level, message, fields = {}) => lines.push({ level, message, fields }),
      openEngine: () => Promise.resolve(engine),
    });
    servers.push(server);
    await server.ready;
    return { ...server, lines };
  };
}

/** What came back on a connection. */
export type Spoken = {
  readonly text: string;
  /** The status of each answer. */
  readonly statuses: readonly number[];
  /** Whether the server closed the connection. */
  readonly isClosed: boolean;
  readonly ms: number;
};

export type Speech = {
  /** Milliseconds between the parts. */
  readonly pauseMs?: number;
  /** Answers that are waited for, on a busy machine too; then, whether there are more. Default 1. */
  readonly answers?: number;
  /** Sends each part once there are as many answers as parts before it. */
  readonly inTurn?: boolean;
  /** Milliseconds without a further byte after which the connection is given up if the server does not close it. Default 300. */
  readonly listenMs?: number;
  /** Closes the connection abruptly after the last part. */
  readonly hangUp?: boolean;
};

/** Milliseconds after which answers are no longer waited for. */
const ANSWER_LIMIT_MS = 30_000;

/** Sends bytes as they are, which no HTTP client would, and listens until the server closes or says nothing more. */
export function speak(
  port: number,
  parts: Iterable<string | Uint8Array>,
  { pauseMs = 0, answers = 1, inTurn = false, listenMs = 300, hangUp = false }: Speech = {},
): Promise<Spoken> {
  return new Promise((resolve) => {
    const started = performance.now();
    const socket = connect(port, "127.0.0.1");
    const received: Buffer[] = [];
    let isOver = false;
    const text = (): string => Buffer.concat(received).toString("latin1");
    const end = (isClosed: boolean): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.destroy();
      const statuses = statusesIn(text());
      resolve({ text: text(), statuses, isClosed, ms: performance.now() - started });
    };
    let timer = setTimeout(() => end(false), Math.max(listenMs, ANSWER_LIMIT_MS));
    socket.on("data", (data: Buffer) => {
      received.push(data);
      if (statusesIn(text()).length < answers) return;
      clearTimeout(timer);
      timer = setTimeout(() => end(false), listenMs);
    });
    // A connection that is reset is closed as well.
    socket.on("error", () => undefined);
    socket.on("close", () => end(true));
    const isDue = (sent: number): boolean => isOver || !inTurn || statusesIn(text()).length >= sent;
    const sendAll = async (): Promise<void> => {
      let sent = 0;
      for (const part of parts) {
        await until(async () => isDue(sent));
        if (isOver) return;
        sent += 1;
        socket.write(part);
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      }
      if (hangUp) socket.destroy();
    };
    socket.on("connect", () => void sendAll());
  });
}

function statusesIn(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
}

/** The bytes of a request without body. */
export function plain(line: string, headers: readonly string[] = ["Host: localhost"]): string {
  return [line, ...headers, "", ""].join("\r\n");
}
