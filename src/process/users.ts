/** Programs that share a server of their own: they learn its address and key, and it ends with the last of them. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { VERSION } from "../app/version.ts";
import { SvcError } from "../domain/errors.ts";
import type { Users } from "../surface/cli/context.ts";
import { meet } from "../surface/mcp/link/rendezvous.ts";

/** Milliseconds that a server waits for its first user: whoever started it may have been killed. */
const FIRST_MS = 60_000;

/**
 * Takes the address at which programs of this user share a server: a socket that only this user reaches, or a named pipe of Windows.
 * Each connection is a user; its end says that the user has gone, even if it was killed. A user gets one line of JSON,
 * `{version, url, key}`, once the memory is open.
 * @throws SvcError bind_failed if the address is taken or cannot be used
 */
export async function openToUsers(address: string): Promise<Users> {
  const meeting = await meet(address);
  if (meeting.role !== "host") {
    if (meeting.role === "guest") meeting.socket.destroy();
    const reason = meeting.role === "guest" ? "another server has it" : meeting.reason;
    throw new SvcError("bind_failed", `${address}: ${reason}`, { address });
  }
  const { seat } = meeting;
  const key = randomBytes(32).toString("base64url");
  const gone = new AbortController();
  const users = new Set<Socket>();
  let line: string | undefined;
  const endIfUnused = (): void => {
    if (users.size > 0) return;
    seat.leave();
    gone.abort();
  };
  const patience = setTimeout(endIfUnused, FIRST_MS);
  const lose = (socket: Socket): void => {
    users.delete(socket);
    endIfUnused();
    // The last one learns by the end of this process that the pack is closed.
    if (users.size > 0) socket.end();
  };
  seat.receive((socket) => {
    clearTimeout(patience);
    users.add(socket);
    socket.once("end", () => lose(socket));
    socket.once("close", () => lose(socket));
    socket.resume();
    if (line !== undefined) socket.write(line);
  });
  return {
    key,
    gone: gone.signal,
    ready: (url) => {
      line = `${JSON.stringify({ version: VERSION, url, key })}\n`;
      for (const user of users) user.write(line);
    },
    leave: () => {
      clearTimeout(patience);
      seat.leave();
      for (const user of users) user.destroySoon();
    },
  };
}
