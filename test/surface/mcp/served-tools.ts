import { afterEach } from "bun:test";
import { type EngineOptions, type OpenedEngine, useEngines } from "../../engine/engines.ts";
import { openSession, type Session } from "./session.ts";

type Json = Readonly<Record<string, unknown>>;

export type ToolResult = {
  readonly isError: boolean;
  /** The first block. */
  readonly text: string;
  /** Names of the other blocks, with their URIs. */
  readonly links: readonly string[];
  readonly structured: Json;
};

export type Caller = Pick<Session, "client" | "log"> & {
  readonly call: (tool: string, args?: Json) => Promise<ToolResult>;
  /** The structured answer of a call that must not fail. */
  readonly answer: (tool: string, args?: Json) => Promise<Json>;
};

export type Served = OpenedEngine & {
  /** A client of its own on the same engine; it checks every answer against the shown schema. */
  readonly connect: (
    boundUserId?: string | undefined,
    toolSet?: "core" | "full",
  ) => Promise<Caller>;
};

/** Engines on real packs and official clients of them; each is closed after its test. */
export function useTools() {
  const sessions: Session[] = [];
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.leave();
  });
  const { open: openEngine } = useEngines();

  const open = async (options: EngineOptions = {}): Promise<Served> => {
    const opened = await openEngine(options);
    // Several sessions use it; its test closes it.
    const engine = { ...opened.engine, close: async () => {} };
    return {
      ...opened,
      connect: async (boundUserId, toolSet = "full") => {
        const session = await openSession(() => Promise.resolve(engine), {
          boundUserId,
          toolSet,
        });
        sessions.push(session);
        await session.client.listTools();
        return callerOf(session);
      },
    };
  };
  return { open };
}

export function callerOf({ client, log }: Session): Caller {
  const call = async (tool: string, args: Json = {}): Promise<ToolResult> => {
    // SAFETY: the shape of a tool result; the client has checked it.
    const result = (await client.callTool({ name: tool, arguments: { ...args } })) as {
      isError?: boolean;
      content: { type: string; text?: string; uri?: string }[];
      structuredContent?: Json;
    };
    const [first, ...others] = result.content;
    return {
      isError: result.isError ?? false,
      text: first?.text ?? "",
      links: others.map(({ type, uri }) => `${type} ${uri}`),
      structured: result.structuredContent ?? {},
    };
  };
  const answer = async (tool: string, args?: Json): Promise<Json> => {
    const { isError, text, structured } = await call(tool, args);
    if (isError || "error" in structured) throw new Error(`${tool} failed: ${text}`);
    return structured;
  };
  return { client, log, call, answer };
}

/** The text of an id in an answer. */
export function idIn(answer: Json, key: string): string {
  return String(answer[key]);
}
