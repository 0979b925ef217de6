import { createConnection, createServer, type Server } from "node:net";

/** What a client's first message says besides user and database: every pooler keeps these two. */
const KEPT = ["user", "database"];
/** Length and protocol before the settings of a first message. */
const HEAD = 8;

/** The first message of a connection with nothing but its user and database, as a pooler passes it on. */
function stripped(message: Buffer): Buffer {
  const parts = message.subarray(HEAD).toString("latin1").split("\0");
  const kept = parts.flatMap((name, place) =>
    place % 2 === 0 && KEPT.includes(name) ? [name, parts[place + 1] ?? ""] : [],
  );
  const body = Buffer.from(`${kept.join("\0")}\0\0`, "latin1");
  const head = Buffer.from(message.subarray(0, HEAD));
  head.writeInt32BE(HEAD + body.length);
  return Buffer.concat([head, body]);
}

const servers: Server[] = [];

/** Ends all poolers. */
export function closePoolers(): void {
  for (const server of servers.splice(0)) server.close();
}

/** The address of a line to the server of a database, on which the settings of clients are lost. */
export async function behindPooler(database: string): Promise<string> {
  const url = new URL(database);
  const target = Number(url.port);
  const server = createServer((near) => {
    const ahead = createConnection(target, "127.0.0.1");
    near.once("data", (first) => {
      ahead.write(stripped(Buffer.from(first)));
      near.pipe(ahead).pipe(near);
    });
    near.on("error", () => ahead.destroy());
    ahead.on("error", () => near.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url.port = String(typeof address === "object" && address !== null ? address.port : 0);
  return url.href;
}
