/**
 * The least that an answer over HTTP costs: a server in a process of its own that gives back what it was given. `PUT /` sets the
 * answer of all other requests, which are read and not looked at.
 */
let answer = "";
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const text = await request.text();
    if (request.method === "PUT") answer = text;
    return new Response(request.method === "PUT" ? "" : answer);
  },
});
console.log(`listening on ${server.url.origin}`);
