import type { Socket } from "node:net";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Guest, Welcome } from "./link/hello.ts";
import type { ServedGuest } from "./link/host.ts";
import { createMcpServer } from "./server.ts";
import { openStdio } from "./stdio-transport.ts";
import type { McpDeps } from "./tools.ts";
import { WELCOME } from "./welcome.ts";

/** How other processes that use this one's memory are served: like the client on stdin, each as its own owner. */
export function guestService(deps: Omit<McpDeps, "boundUserId" | "toolSet" | "answers">): {
  readonly welcome: Welcome;
  readonly serve: (guest: Guest, socket: Socket) => ServedGuest;
} {
  return {
    welcome: WELCOME,
    serve: (guest, socket) => {
      const { transport, ended } = openStdio(socket, socket);
      const { userId: boundUserId, tools: toolSet, answers } = guest;
      serveStdio(
        () => createMcpServer({ ...deps, boundUserId, isPersonal: true, toolSet, answers }),
        {
          transport,
          // It concerns another process, not the readers of this one's log.
          onerror: (error) => deps.log("info", `protocol: ${error.message}`),
        },
      );
      return { ended };
    },
  };
}
