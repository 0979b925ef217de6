import type { MockLanguageModelV4 } from "ai/test";

type Calls = MockLanguageModelV4["doGenerateCalls"];
type Result = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
/** A part of a streamed answer. */
export type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never;

const usage: Result["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** An answer in words. */
export function says(text: string, reason: Result["finishReason"]["unified"] = "stop"): Result {
  return {
    content: [{ type: "text", text }],
    finishReason: { unified: reason, raw: undefined },
    usage,
    warnings: [],
  };
}

/** An answer that calls a tool, after some words if there are any. */
export function wants(toolName: string, input: unknown, toolCallId = "c1", words = ""): Result {
  const call = { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) } as const;
  return {
    content: words === "" ? [call] : [{ type: "text", text: words }, call],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
}

/** The same as a stream of these pieces; it breaks after them if `fails`. */
export function streams(pieces: readonly string[], fails = false): Streamed {
  const parts: Part[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "t" },
    ...pieces.map((delta): Part => ({ type: "text-delta", id: "t", delta })),
    { type: "text-end", id: "t" },
    { type: "finish", usage, finishReason: { unified: "stop", raw: undefined } },
  ];
  return {
    stream: new ReadableStream<Part>({
      start: (controller) => {
        for (const part of fails ? parts.slice(0, -2) : parts) controller.enqueue(part);
        if (fails) controller.error(new Error("connection lost"));
        else controller.close();
      },
    }),
  };
}

/** The texts of what the user says in each prompt, part by part. */
export function callsOf(calls: Calls): readonly (readonly string[])[] {
  return calls.map(({ prompt }) =>
    prompt.flatMap((message) =>
      message.role === "user"
        ? message.content.flatMap((part) => (part.type === "text" ? part.text : []))
        : [],
    ),
  );
}
