/** The side of a hook that has the memory open. */
import type { Socket } from "node:net";
import { invalid, SvcError } from "../domain/errors.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { type Recalled, type RecallRequest, recall } from "./recall.ts";
import { dropWaiting, isWaiting, spool, waiting } from "./state.ts";
import type { Turn } from "./turn.ts";

/** A line from a hook. The answer is a line for each member: what became of the turn first. */
export type HookRequest = {
  readonly turn?: Turn | undefined;
  readonly recall?: RecallRequest | undefined;
};
/** `known`: it was stored before; `forgotten`: it was, and was erased, which stays so. */
export type Stored = "stored" | "known" | "forgotten";
export type HookAnswer = { readonly stored: Stored } | { readonly recalled: Recalled };

/** Milliseconds without a hook after which what came in is indexed: an assistant must not wait for the vectors of the turn before. */
const QUIET_MS = 1000;
/** Milliseconds for that. */
const INDEX_MS = 5000;

/** Stores a turn once, durably and without its vector, which follows. @throws SvcError as `ingestFastMany` */
export async function storeTurn(engine: MemoryEngine, turn: Turn): Promise<Stored> {
  const { id, client, session, role, text, at, project, secrets } = turn;
  const userId = await ownerFor(engine, turn.user);
  const item = {
    content: text,
    role,
    sessionId: session,
    scope: project === undefined ? ("personal" as const) : ("project" as const),
    eventTime: at,
    metadata: {
      source: `capture:${client}`,
      ...(project !== undefined && { project }),
      ...(Object.keys(secrets).length > 0 && { redacted: secrets }),
    },
  };
  try {
    await engine.ingestFastMany({ userId, items: [item], requestId: id });
    return "stored";
  } catch (error) {
    // Another delivery of the same words, a moment earlier or by another file.
    if (!(error instanceof SvcError) || error.code !== "request_conflict") throw error;
    return error.data["forgotten"] === true ? "forgotten" : "known";
  }
}

/** The owner of what is stored. @throws SvcError invalid_argument if none is named and the pack has several */
export async function ownerFor(engine: MemoryEngine, named: string | undefined): Promise<string> {
  const userId = named ?? (await engine.claimPack());
  if (userId !== undefined) return userId;
  throw invalid("--user-id", "is missing, and the pack has several owners");
}

/** Stores what waits for this pack. What the pack refuses is laid aside. @returns how many were taken in */
export async function takeIn(engine: MemoryEngine, mainFile: string): Promise<number> {
  if (!isWaiting(mainFile)) return 0;
  let count = 0;
  for (const one of waiting(mainFile).turns) {
    try {
      await storeTurn(engine, one.turn);
      count += 1;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      spool(mainFile, one.turn, "dead", error.code);
    }
    dropWaiting(one);
  }
  return count;
}

/** Whether trying again would fail again. */
export function isRefusal(error: unknown): error is SvcError {
  return error instanceof SvcError && /^invalid_|^request_/.test(error.code);
}

/** Answers the hooks of a pack. */
export function hookService(engine: () => Promise<MemoryEngine>, mainFile: string) {
  let isIndexing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const index = (opened: MemoryEngine): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isIndexing) return;
      isIndexing = true;
      takeIn(opened, mainFile)
        .then(() => opened.processPending({ budgetMs: INDEX_MS }))
        .catch(() => undefined)
        .finally(() => {
          isIndexing = false;
        });
    }, QUIET_MS);
    timer.unref();
  };
  return async (socket: Socket): Promise<void> => {
    const line = await firstLine(socket);
    if (line === undefined) return;
    // SAFETY: the other side has proven to be this program, of this user.
    const request = JSON.parse(line) as HookRequest;
    const opened = await engine();
    const recalled = request.recall && recall(opened, request.recall);
    recalled?.catch(() => undefined);
    if (request.turn !== undefined) say(socket, { stored: await storeTurn(opened, request.turn) });
    if (recalled !== undefined) say(socket, { recalled: await recalled });
    socket.end();
    index(opened);
  };
}

function say(socket: Socket, answer: HookAnswer): void {
  socket.write(`${JSON.stringify(answer)}\n`);
}

function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => {
      parts.push(part);
      if (!part.includes(10)) return;
      resolve(Buffer.concat(parts).toString("utf8").split("\n", 1)[0]);
    });
    socket.on("close", () => resolve(undefined));
    socket.on("error", () => resolve(undefined));
    socket.resume();
  });
}
