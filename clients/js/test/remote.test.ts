import { afterAll, beforeAll, expect, test } from "bun:test";
import { remoteMemory } from "../src/remote.ts";
import { type Grounds, KEY, openGrounds } from "./grounds.ts";

let grounds: Grounds;
beforeAll(async () => {
  grounds = await openGrounds();
}, 120_000);
afterAll(() => grounds[Symbol.asyncDispose]());

const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);
const question = { query: "Where is the key?", userId: "anna" };

/** A server that is not svc. */
function serve(answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, fetch: answer });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test("records of a server are those of the engine", async () => {
  const { embedded, remote } = grounds.memories;
  const input = {
    content: "The key lies under the pot",
    userId: "records",
    sessionId: "s",
    nodeType: "fact",
    scope: "project",
    eventTime: "2026-03-01T10:00:00Z",
    metadata: { a_b: { c_d: [1, null] }, __proto__x: 1 },
    ttlDays: null,
  } as const;
  const { nodeId, eventId } = await remote.storeWithReceipt(input);
  // Members that are undefined here are absent there.
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
  const batch = async (memory: typeof remote) =>
    (await memory.getNodes([nodeId, crypto.randomUUID()], "records")).nodes;
  expect(await batch(remote)).toEqual(plain(await batch(embedded)));
  const page = async (memory: typeof remote) => memory.listEvents({ userId: "records" });
  const [event] = (await page(remote)).events;
  // A server calls the time of admission by two more names.
  expect<unknown>(event).toMatchObject(plain((await page(embedded)).events[0]));
  expect<unknown>(event?.id).toBe(eventId);
  expect((await batch(remote))[0]).toMatchObject({ metadata: input.metadata, nodeType: "fact" });
});

test("changes are followed over connections that end, and a profile is read", async () => {
  const { engine, url } = grounds;
  const of = { userId: "followed" };
  const instruction = { content: "Always answer in French", nodeType: "instruction" } as const;
  const { nodeId } = await engine.storeWithReceipt({ ...of, ...instruction });
  let answers = 0;
  const memory = remoteMemory({
    url,
    apiKey: KEY,
    fetch: async (to, init) => {
      answers += 1;
      const answer = await fetch(to, init);
      if (answers > 1 || answer.body === null) return answer;
      // The first connection ends behind its first event.
      const reader = answer.body.getReader();
      let text = "";
      while (!text.includes("data: "))
        text += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      return new Response(text);
    },
  });
  const changes = memory.changes(of);
  const next = async () => {
    const { change, node } = (await changes.next()).value ?? {};
    return [change, node?.content];
  };
  expect(await next()).toEqual(["stored", "Always answer in French"]);
  await engine.store({ ...of, content: "two\u2028lines" });
  expect(await next()).toEqual(["stored", "two\u2028lines"]);
  await engine.archive(nodeId, { userId: "followed" });
  expect(await next()).toEqual(["archived", "Always answer in French"]);
  await changes.return();
  const wrong = remoteMemory({ url, apiKey: KEY })
    .changes({ ...of, since: "99" })
    .next();
  expect(await failureOf(wrong)).toMatchObject({ code: "invalid_argument" });
  const nowhere = remoteMemory({ url: "http://127.0.0.1:9" }).changes(of).next();
  expect(await failureOf(nowhere)).toMatchObject({ code: "storage_unavailable" });
  const { text, entries } = await memory.profile({ ...of, maxTokens: 100 });
  expect([text, entries]).toEqual(["", []]);
});

test("a store with an identifier is kept once, and tells what is near", async () => {
  const { remote } = grounds.memories;
  const of = { userId: "once", requestId: crypto.randomUUID() };
  const first = await remote.storeWithReceipt({ ...of, content: "Anna lives in Bonn" });
  const again = await remote.storeWithReceipt({ ...of, content: "Anna lives in Bonn" });
  expect(again.nodeId).toBe(first.nodeId);
  const other = await failureOf(remote.storeWithReceipt({ ...of, content: "something else" }));
  expect(other).toMatchObject({ code: "request_conflict", name: "RequestConflictError" });
  const known = await remote.storeWithReceipt({ userId: "once", content: "Anna lives in Bonn" });
  expect(known).toMatchObject({ nodeId: first.nodeId, duplicate: true });
  const { near } = await remote.storeWithReceipt({ userId: "once", content: "Anna lives in Kiel" });
  expect(near?.[0]).toMatchObject({ node: { id: first.nodeId }, identical: false });
});

test("pages of events continue at their cursor, in both orders and within scopes", async () => {
  const { remote } = grounds.memories;
  for (const content of ["one", "two", "three"]) {
    await grounds.engine.store({ content, userId: "pages", sessionId: "s" });
  }
  await grounds.engine.store({ content: "elsewhere", userId: "pages", scope: "project" });
  const query = { userId: "pages", scopes: ["personal"], order: "oldest", limit: 2 } as const;
  const first = await remote.listEvents(query);
  const second = await remote.listEvents({ ...query, cursor: first.nextCursor });
  const contents = [...first.events, ...second.events].map(({ content }) => content);
  expect(contents).toEqual(["one", "two", "three"]);
  expect(second.nextCursor).toBeUndefined();
});

test("a batch may be larger than one answer of the server", async () => {
  const { engine, memories } = grounds;
  const content = "x".repeat(3 * 1024 * 1024);
  const ids: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const metadata = { index };
    const input = { content, retrievalContent: `${content}${index}`, userId: "big", metadata };
    ids.push((await engine.storeWithReceipt(input)).nodeId);
  }
  const asked = [...ids, ...Array.from({ length: 600 }, () => crypto.randomUUID())];
  const { nodes } = await memories.remote.getNodes(asked, "big");
  expect<string[]>(nodes.map(({ id }) => id)).toEqual(ids);
}, 120_000);

test("errors have the code of the server, and of the address where there is none", async () => {
  const { url } = grounds;
  const wrongKey = remoteMemory({ url, apiKey: "another" });
  expect(await failureOf(wrongKey.retrieve(question))).toMatchObject({ code: "unauthenticated" });
  const bad = remoteMemory({ url, apiKey: KEY }).retrieve({ ...question, minScore: -1 });
  expect(await failureOf(bad)).toMatchObject({ code: "invalid_argument" });
  const nobody = remoteMemory({ url: "http://127.0.0.1:1" }).retrieve(question);
  expect(await failureOf(nobody)).toMatchObject({
    code: "storage_unavailable",
    message: "the memory at http://127.0.0.1:1: it cannot be reached",
  });
  for (const wrong of ["memory.pack", "file:///memory.pack", ""]) {
    expect(() => remoteMemory({ url: wrong })).toThrow("url: must be an address");
  }
});

test("what is not svc is called so, whatever it answers", async () => {
  const answers = [
    () => new Response("<html>", { status: 200 }),
    () => new Response("[1]", { status: 200 }),
    () => Response.json({ code: "constructor", detail: "x" }, { status: 404 }),
    () => new Response("gone", { status: 404 }),
  ];
  for (const answer of answers) {
    await using other = serve(answer);
    const error = await failureOf(remoteMemory(other).retrieve(question));
    expect(error).toMatchObject({ code: "unsupported" });
    expect(String(error)).toContain("is this its address?");
  }
  const id = crypto.randomUUID();
  await using empty = serve(() => Response.json({ nodes: [], left_out: [id] }));
  expect(await failureOf(remoteMemory(empty).getNodes([id], "anna"))).toMatchObject({
    code: "unsupported",
  });
  await using proxy = serve(() => new Response("Bad gateway", { status: 502 }));
  const error = await failureOf(remoteMemory(proxy).retrieve(question));
  expect(error).toMatchObject({ code: "storage_unavailable" });
});

test("a key goes to its server alone, and in no message", async () => {
  let stolen: string | null = null;
  await using thief = serve((request) => {
    stolen = request.headers.get("authorization");
    return Response.json({});
  });
  await using redirects = serve(() => Response.redirect(thief.url, 307));
  const url = `${redirects.url.replace("127", "user:secret@127")}/`;
  const error = await failureOf(remoteMemory({ url, apiKey: "secret-key" }).retrieve(question));
  expect(error).toMatchObject({ code: "storage_unavailable" });
  expect(stolen).toBeNull();
  expect(Bun.inspect(error)).not.toContain("secret");
});

test("a server that is silent, or breaks off, is given up; a call can be aborted", async () => {
  await using silent = serve(() => new Promise<Response>(() => undefined));
  const late = remoteMemory({ url: silent.url, timeoutMs: 30 }).retrieve(question);
  expect(await failureOf(late)).toMatchObject({
    code: "storage_unavailable",
    message: `the memory at ${silent.url}: no answer within 30 ms`,
  });
  const abort = new AbortController();
  const { signal } = abort;
  const aborted = failureOf(remoteMemory(silent).retrieve({ ...question, signal }));
  abort.abort(new Error("enough"));
  expect(String(await aborted)).toContain("enough");
  const half = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"results": [');
      },
    },
  });
  const cut = remoteMemory({ url: `http://127.0.0.1:${half.port}` }).retrieve(question);
  expect(await failureOf(cut)).toMatchObject({ code: "storage_unavailable" });
  half.stop(true);
});

test("memories of other owners are missing, even with the key of all owners", async () => {
  const { remote } = grounds.memories;
  const { nodeId } = await grounds.engine.storeWithReceipt({ content: "a secret", userId: "tom" });
  const own = await remote.storeWithReceipt({ content: "mine", userId: "eve" });
  const of = { userId: "eve" };
  expect((await remote.getNodes([nodeId], "eve")).nodes).toEqual([]);
  for (const call of [
    remote.archive(nodeId, of),
    remote.supersede(nodeId, own.nodeId, of),
    remote.supersede(own.nodeId, nodeId, of),
  ]) {
    expect(await failureOf(call)).toMatchObject({ code: "not_found", data: { id: nodeId } });
  }
  const node = await remote.archive(own.nodeId.toUpperCase(), of);
  expect(node.lifecycleState).toBe("archived");
});
