/** More idle connections than a process may have descriptors. */

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { leftOut, NOT_LINUX } from "../../left-out.ts";
import { until } from "../../until.ts";

setDefaultTimeout(120_000);

const DESCRIPTORS = 400;
const opened: { destroy(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy();
});

/** A server of few descriptors, which echoes. @returns its port */
async function serveWithFew(): Promise<number> {
  const door = JSON.stringify(resolve("src/surface/listener/door.ts"));
  const program = `const { openDoor } = await import(${door});
    const answer = async (request) => new Response(await request.text());
    console.log(openDoor({ host: "127.0.0.1", port: 0, log: () => undefined, answer }).port);`;
  const command = `ulimit -n ${DESCRIPTORS} && exec "${process.execPath}" -e '${program}'`;
  const child = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "inherit" });
  opened.push({ destroy: () => child.kill() });
  for await (const line of child.stdout) return Number(new TextDecoder().decode(line));
  throw new Error("the server ended");
}

function dial(port: number, text: string): { readonly socket: Socket; heard: string } {
  const call = { socket: connect(port, "127.0.0.1"), heard: "" };
  call.socket.on("error", () => undefined);
  call.socket.on("data", (data) => {
    call.heard += data.toString();
  });
  call.socket.write(text);
  opened.push(call.socket);
  return call;
}

test.skipIf(NOT_LINUX !== undefined).each([
  ["say nothing", ""],
  ["were answered and ask no more", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
])(
  `connections that %s give way to a newcomer, and a request under way goes on${leftOut(NOT_LINUX)}`,
  async (_, text) => {
    const port = await serveWithFew();
    const late = dial(port, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nla");
    const idle = Array.from({ length: 2 * DESCRIPTORS }, () => dial(port, text));
    const closed = new Set<Socket>();
    for (const { socket } of idle) socket.on("close", () => closed.add(socket));
    await until(async () => closed.size >= DESCRIPTORS);

    const newcomer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "here" });
    expect(await newcomer.text()).toBe("here");
    late.socket.write("te");
    await until(async () => late.heard.endsWith("late"));
  },
);
