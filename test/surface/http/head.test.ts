/** What HEAD says of the length of an answer, on a real connection: clients size downloads and buffers by it. */
import { describe, expect, test } from "bun:test";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { useEngines } from "../../engine/engines.ts";
import { plain, speak, useServers } from "./serving.ts";

const serve = useServers();
const { open } = useEngines();

const HEADERS = ["Host: localhost", "Connection: close"];
/** The server closes the connection long before. */
const LISTEN = { listenMs: 10_000 };

const lengthOf = (text: string): string | undefined =>
  /^content-length: (\d+)\r$/im.exec(text)?.[1];

/** The header section of an answer, and how many bytes follow it. */
function partsOf(text: string): { readonly head: string; readonly bodyLength: number } {
  const end = text.indexOf("\r\n\r\n") + 4;
  return { head: text.slice(0, end), bodyLength: text.length - end };
}

describe("HEAD", () => {
  test.each([
    { path: "/v1/health", status: 200 },
    { path: "/v1/nodes?user_id=ada", status: 200 },
    { path: "/v1/blobs/frames/0a.jpg?user_id=ada", status: 200 },
    { path: "/v1/blobs/frames/0b.jpg?user_id=ada", status: 404 },
    { path: "/openapi.json", status: 200 },
    { path: "/docs", status: 200 },
    { path: "/v1/nodes/?user_id=ada", status: 307 },
    { path: "/inspect/", status: 404 },
    { path: "/v1/store", status: 405 },
  ])("$path gives the length that GET would have", async ({ path, status }) => {
    const { engine, store } = await open();
    const event = anEvent({ userId: "ada" });
    const bytes = new Uint8Array(70_001);
    const blob = { key: "frames/0a.jpg", mediaType: "image/jpeg", bytes, event: event.id };
    await store.admit(anAdmission([event], { blobs: [blob] }));
    const { port } = await serve({ engine });
    const [got, asked] = [
      await speak(port, [plain(`GET ${path} HTTP/1.1`, HEADERS)], LISTEN),
      await speak(port, [plain(`HEAD ${path} HTTP/1.1`, HEADERS)], LISTEN),
    ];
    expect([got.statuses, asked.statuses]).toEqual([[status], [status]]);
    const [whole, head] = [partsOf(got.text), partsOf(asked.text)];
    expect(head.bodyLength).toBe(0);
    expect(lengthOf(head.head)).toBe(String(whole.bodyLength));
    expect(lengthOf(head.head)).toBe(lengthOf(whole.head));
  });

  test("of what the caller has already gives no length", async () => {
    const { engine, store } = await open();
    const event = anEvent({ userId: "ada" });
    const bytes = new Uint8Array(9);
    const blob = { key: "frames/0a.jpg", mediaType: "image/jpeg", bytes, event: event.id };
    await store.admit(anAdmission([event], { blobs: [blob] }));
    const { port } = await serve({ engine });
    const headers = [...HEADERS, "If-None-Match: *"];
    const path = "/v1/blobs/frames/0a.jpg?user_id=ada";
    const { text, statuses } = await speak(port, [plain(`HEAD ${path} HTTP/1.1`, headers)], LISTEN);
    expect([statuses, lengthOf(text)]).toEqual([[304], undefined]);
  });
});
