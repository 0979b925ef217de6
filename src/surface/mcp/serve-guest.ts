import type { Socket } from "node:net";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Guest, Welcome } from "./link/hello.ts";
import type { ServedGuest } from "./link/host.ts";
import { createMcpServer } from "./server.ts";
import { openStdio } from "./stdio-transport.ts";
import type { McpDeps } from "./tools.ts";
import { WELCOME } from "./welcome.ts";

/** How the processes that come for this one's memory are served: as the client on stdin is, each as its own owner. */
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
          // Of another process, and no matter of who reads the log of this one.
          onerror: (error) => deps.log("info", `protocol: ${error.message}`),
        },
      );
      return { ended };
    },
  };
}
