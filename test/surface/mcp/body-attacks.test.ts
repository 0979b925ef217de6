import { expect, test } from "bun:test";
import { drip, useAttacks } from "../http/attack.ts";
import { KEYS, request, useMcpServers } from "./http-server.ts";

const serve = useMcpServers();
const attack = useAttacks();

const head = [
  "POST /mcp HTTP/1.1",
  "Host: localhost",
  `Authorization: Bearer ${KEYS.bob}`,
  "Content-Type: application/json",
  "Content-Length: 10000000",
  "",
  "",
].join("\r\n");

test("messages of one client that come in single bytes hold no other client up", async () => {
  const { server, send } = await serve(undefined, {
    bodyTimes: { timeoutMs: 600_000, paceMs: 600_000 },
  });
  const all = await Promise.all(Array.from({ length: 40 }, () => attack(server.port, head)));
  drip(all, " ");
  for (const bytes of [70_000, 9_000_000]) {
    expect((await send(request("ping", { filling: "x".repeat(bytes) }))).status).toBe(200);
  }
  expect(all.map(({ answer }) => answer())).toEqual(all.map(() => ""));
}, 120_000);

test("a message that comes in single bytes is answered with 408 and its connection closed", async () => {
  const { server } = await serve(undefined, { bodyTimes: { paceMs: 500 } });
  const begun = await attack(server.port, head);
  drip([begun], " ");
  await begun.closed;
  expect(begun.answer()).toStartWith("HTTP/1.1 408 ");
  expect(begun.answer()).toContain("came more slowly than 16 KiB a second");
}, 120_000);
