/**
 * A language model in a file behind the OpenAI protocol, on this machine: `bun small-model-server.ts LIBRARY MODEL [free]`, which with
 * `free` is not held to the form that is asked for. Writes its port, and each
 * answer, as lines of JSON; ends with its standard input. `small-model.ts` starts it.
 */
import { pathToFileURL } from "node:url";

/** What is used of `node-llama-cpp`, which is no dependency. */
type Library = {
  getLlama(options: object): Promise<{
    loadModel(options: object): Promise<{
      createContext(options: object): Promise<{ getSequence(): object }>;
    }>;
    createGrammarForJsonSchema(schema: object): Promise<object>;
  }>;
  readonly LlamaChatSession: new (
    options: object,
  ) => { prompt(text: string, options: object): Promise<string>; dispose(): void };
};

/** Tokens of a question and its answer, and of an answer. */
const CONTEXT = 8192;
const ANSWER = 600;
/** A small model ends neither lists nor texts by itself. */
const BOUNDS = { maxItems: 2, maxLength: 60 };

const [library = "", modelPath = "", free] = process.argv.slice(2);
// SAFETY: this is how the library looks in the version that is fetched.
const { getLlama, LlamaChatSession } = (await import(pathToFileURL(library).href)) as Library;
const llama = await getLlama({ build: "never", gpu: false, logLevel: "error" });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: CONTEXT, threads: 1 });
const contextSequence = context.getSequence();
let turn: Promise<unknown> = Promise.resolve();

/** The schema as the library takes it, with bounds. */
function bounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bounded);
  if (typeof schema !== "object" || schema === null) return schema;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, bounded(value)]),
  );
  const { maxItems, maxLength } = BOUNDS;
  return {
    ...rest,
    ...(anyOf !== undefined && { oneOf: anyOf }),
    ...(rest["type"] === "array" && { maxItems }),
    ...(rest["type"] === "string" && rest["enum"] === undefined && { maxLength }),
  };
}

type Asked = {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly json_schema?: { readonly schema?: object } };
};

async function answer({ messages, response_format: format }: Asked): Promise<string> {
  const of = (role: string) =>
    messages
      .filter((message) => message.role === role)
      .map(({ content }) => content)
      .join("\n\n");
  const schema = format?.json_schema?.schema;
  const grammar =
    free === undefined && schema !== undefined
      ? await llama.createGrammarForJsonSchema(bounded(schema) as object)
      : undefined;
  const session = new LlamaChatSession({
    contextSequence,
    systemPrompt: of("system"),
    autoDisposeSequence: false,
  });
  try {
    return await session.prompt(of("user"), { grammar, maxTokens: ANSWER, temperature: 0 });
  } finally {
    session.dispose();
  }
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const asked = (await request.json()) as Asked;
    const started = performance.now();
    const said = turn.then(() => answer(asked));
    turn = said.catch(() => {});
    const content = await said;
    tell({ content, seconds: (performance.now() - started) / 1000 });
    const message = { role: "assistant", content };
    return Response.json({
      id: "1",
      object: "chat.completion",
      created: 0,
      model: "small",
      choices: [{ index: 0, message, finish_reason: "stop" }],
    });
  },
});

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

tell({ port: server.port });
for await (const _ of Bun.stdin.stream());
process.exit();
