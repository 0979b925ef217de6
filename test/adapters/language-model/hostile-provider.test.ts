import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createLanguageModel } from "../../../src/adapters/language-model/create-language-model.ts";
import type { SvcError } from "../../../src/domain/errors.ts";
import { type ProviderServer, type Reply, startProvider } from "./provider-server.ts";

const REQUEST = {
  ...{ system: "s", prompt: "pelican question", schema: { type: "object" } },
  ...{ timeoutMs: 30_000, schemaRetries: 0, temperature: 0 },
} as const;
const MEGABYTE = 1024 * 1024;

const servers: ProviderServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

function provider(reply: () => Reply): ProviderServer {
  const server = startProvider("openai", [reply]);
  servers.push(server);
  return server;
}

async function failure(name: "openai" | "anthropic" | "ollama", { url }: ProviderServer) {
  const options = { provider: name, model: "m", apiKey: "sk-albatross", transportRetries: 0 };
  return await createLanguageModel({ ...options, baseUrl: `${url}/v1` })
    .answer(REQUEST)
    .then(
      () => {
        throw new Error("nothing was thrown");
      },
      (error: SvcError) => error,
    );
}

/** A body that goes on for up to a gigabyte, and how much of it was taken. */
function flood(status: number) {
  const piece = new Uint8Array(MEGABYTE).fill(0x20);
  const flow = { taken: 0, reply: () => new Response() };
  flow.reply = () =>
    new Response(
      new ReadableStream({
        pull: async (stream) => {
          flow.taken += piece.length;
          if (flow.taken > 1024 * MEGABYTE) stream.close();
          else stream.enqueue(piece);
          await Bun.sleep(0);
        },
      }),
      { status, headers: { "content-type": "application/json" } },
    );
  return flow;
}

describe.each(["openai", "anthropic", "ollama"] as const)("%s", (name) => {
  test.each([200, 400])("is not read without end (status %d)", async (status) => {
    const flow = flood(status);
    const error = await failure(name, provider(flow.reply));
    expect(error.code).toBe("model_failed");
    expect(flow.taken).toBeLessThan(256 * MEGABYTE);
  });

  test("that redirects gets neither text nor key to another address", async () => {
    const other = provider(() => "{}");
    const server = provider(() => Response.redirect(`${other.url}/v1/messages`, 307));
    const error = await failure(name, server);
    expect(error.message).toBe(
      `${name} (m) redirects to another address (status 307): set the final one`,
    );
    expect(other.received).toEqual([]);
  });
});

/** A program that asks each model once. @returns the most memory that it had, and what it was told */
async function asked(reply: string) {
  const { url } = provider(() => new Response(reply));
  const folder = join(import.meta.dir, "../../../src/adapters/language-model");
  const options = { provider: "ollama", model: "m", baseUrl: url, transportRetries: 0 };
  const program = `
    import { readFileSync } from "node:fs";
    const { createLanguageModel, createVisionModel } = await import("${folder}/create-language-model.ts");
    const told = ({ message }) => console.log(message);
    const options = ${JSON.stringify(options)};
    const picture = { image: new Uint8Array(9), mediaType: "image/jpeg", prompt: "p", timeoutMs: 60000 };
    await createVisionModel(options).describe(picture).catch(told);
    await createLanguageModel(options).answer(${JSON.stringify(REQUEST)}).catch(told);
    // What the system tells of a child counts the memory of the process that started it.
    console.log(/^VmHWM:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stderr: "inherit" });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  await child.exited;
  const kilobytes = Number(lines.pop());
  return { megabytes: kilobytes / 1024, lines };
}

test.each(["[", "[],", '{"a":', " "])(
  "17 MB of %j cost no more memory than a short answer, and are refused by name",
  async (piece) => {
    const short = await asked("no");
    const long = await asked(piece.repeat((17 * MEGABYTE) / piece.length));
    expect(long.lines).toEqual(
      [1, 16].map(
        (size) =>
          `ollama (m) answered with far more than was asked for (more than ${size * MEGABYTE} bytes, or too many lists); what it sent was not read`,
      ),
    );
    expect(long.megabytes - short.megabytes).toBeLessThan(150);
  },
  60_000,
);
