/**
 * A vision server as a process of its own, which speaks the protocol of OpenAI. It says of each picture what its bytes are, so that two
 * pictures never have one description; a plan makes it fail.
 */
import { expect } from "bun:test";

/** What the server does with a request: describes it, or something worse. */
export type Turn =
  | { readonly say: "picture" }
  | { readonly say: "text"; readonly text: string }
  | { readonly say: "status"; readonly status: number }
  | { readonly say: "garbage" | "nothing" }
  | { readonly say: "slowly"; readonly ms: number };

export type VisionServer = AsyncDisposable & {
  readonly url: string;
  /** How many requests came so far. */
  asked(): Promise<number>;
  stop(): Promise<void>;
};

/** @param plan what happens with the first requests; the last turn stands for all further ones */
export async function startVisionServer(plan: readonly Turn[] = []): Promise<VisionServer> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(plan)], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  expect(url).toStartWith("http://127.0.0.1:");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return {
    url,
    stop,
    [Symbol.asyncDispose]: stop,
    asked: async () => Number(await (await fetch(`${url}/asked`)).text()),
  };
}

/** What the server says of a picture. */
function pictureText(image: string): string {
  const digits = new Bun.CryptoHasher("sha256").update(image).digest("hex").slice(0, 12);
  return `A photo of a plain wall. A label reads "${digits}".`;
}

function completion(content: string): Response {
  const message = { role: "assistant", content };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return Response.json({
    id: "1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices,
    usage,
  });
}

async function answer(turn: Turn, request: Request): Promise<Response> {
  const image = /data:image\/jpeg;base64,([^"]+)/.exec(await request.text())?.[1] ?? "";
  switch (turn.say) {
    case "picture":
      return completion(pictureText(image));
    case "text":
      return completion(turn.text);
    case "status":
      return Response.json({ error: { message: "no" } }, { status: turn.status });
    case "garbage":
      return new Response('{"choices": [{"mess', {
        headers: { "content-type": "application/json" },
      });
    case "nothing":
      return await new Promise<Response>(() => {});
    case "slowly":
      await Bun.sleep(turn.ms);
      return completion(pictureText(image));
  }
}

if (import.meta.main) {
  // SAFETY: what the function above passes.
  const plan = JSON.parse(process.argv[2] ?? "[]") as readonly Turn[];
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname === "/asked") return new Response(String(asked));
      const turn = plan[Math.min(asked, plan.length - 1)] ?? { say: "picture" };
      asked += 1;
      return await answer(turn, request);
    },
  });
  process.stdout.write(`http://127.0.0.1:${server.port}\n`);
}
