/** A model provider on this machine that speaks the wire formats of the real ones. */

export type WireFormat = "openai" | "anthropic";

/** One request as it arrived. */
export type Received = {
  readonly path: string;
  readonly headers: Headers;
  readonly body: ReceivedBody;
};

/** The parts of both formats that tests look at. */
export type ReceivedBody = {
  readonly model: string;
  readonly temperature?: number;
  readonly reasoning_effort?: string;
  readonly max_tokens?: number;
  readonly response_format?: { readonly type: string; readonly json_schema?: object };
  readonly tools?: readonly object[];
  readonly system?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
};

/** What the server does with a request: text that the model says, or a response of its own. */
export type Reply = string | Response | Promise<string | Response>;

export type ProviderServer = {
  readonly url: string;
  readonly received: Received[];
  stop(): void;
};

/** Answers the first request with the first reply, and so on; the last reply stands for all further ones. */
export function startProvider(
  format: WireFormat,
  replies: readonly ((received: Received) => Reply)[],
): ProviderServer {
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const entry = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: (await request.json()) as ReceivedBody,
      };
      received.push(entry);
      const reply = replies[Math.min(received.length, replies.length) - 1];
      const said = await reply?.(entry);
      if (said instanceof Response) return said;
      return Response.json(
        format === "openai" ? completion(said ?? "") : message(said ?? "", entry),
      );
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    stop: () => {
      void server.stop(true);
    },
  };
}

function completion(content: string): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_770_000_000,
    model: "test-model",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

/** As the real one: the answer is a tool's input where a tool was forced, else text. */
function message(content: string, { body }: Received): object {
  const usesTool = (body.tools?.length ?? 0) > 0;
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "test-model",
    content: usesTool
      ? [{ type: "tool_use", id: "toolu_1", name: "json", input: JSON.parse(content) }]
      : [{ type: "text", text: content }],
    stop_reason: usesTool ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  };
}

/** A refusal in the form of both providers, which asks for no pause before the next try. */
export function refusal(status: number, text = "the prompt said: pelican"): Response {
  return Response.json(
    { type: "error", error: { type: "refused", message: text } },
    { status, headers: { "retry-after-ms": "1" } },
  );
}
