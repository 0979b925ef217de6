import { join } from "node:path";
import type { Inference } from "../../../src/adapters/embedding/inference.ts";
import { type Client, createClient, unwrap } from "../http-client.ts";
import { openRawModel } from "../probe.ts";
import type { Figure, Section } from "../report.ts";
import { createRandom, sentences } from "../sentences.ts";
import { startServer } from "../server.ts";
import { digits, median, sum, timed } from "../stats.ts";
import { type PartContext, repetitions } from "./context.ts";

const TEXTS_PER_TURN = 80;

type Turns = { readonly raw: number[]; readonly served: number[] };

/**
 * Texts per second through `POST /v1/store`, which answers when the memory is in both indexes, against the bare model
 * on the same texts in this process. The two take turns; while one works the other is idle.
 */
export async function measureStore(context: PartContext): Promise<Section> {
  const model = await openRawModel();
  const server = await startServer({ pack: join(context.folder, "store.pack"), logLevel: "info" });
  try {
    const client = createClient(server.url, "bench");
    const random = createRandom(1);
    let serial = 0;
    const next = (): string[] => {
      serial += TEXTS_PER_TURN;
      return sentences(random, serial - TEXTS_PER_TURN, TEXTS_PER_TURN);
    };
    await storeAll(client, next(), 1);
    await embedAll(model, next());
    const figures: Figure[] = [];
    const turns = new Map<number, Turns>(
      [1, 8].map((clients) => [clients, { raw: [], served: [] }]),
    );
    for (let turn = 0; turn < repetitions(context, 12); turn += 1) {
      for (const [clients, { raw, served }] of turns) {
        const texts = next();
        const runs = [
          async () => raw.push(await timed(() => embedAll(model, texts))),
          async () => served.push(await timed(() => storeAll(client, texts, clients))),
        ];
        // Every other time the other one goes first, so that a drift of the machine meets both alike.
        for (const run of turn % 2 === 0 ? runs : runs.reverse()) await run();
      }
      context.say(`store: turn ${turn + 1}`);
    }
    for (const [clients, measured] of turns) figures.push(...describe(clients, measured));
    return {
      title: "Store",
      command: "bun scripts/bench/bench.ts store",
      notes: [
        `Each turn: ${TEXTS_PER_TURN} texts of about 20 words, each stored once. The probe is the model alone on the same texts. Ratio: median over the turns.`,
      ],
      figures,
    };
  } finally {
    await server.end("SIGTERM");
    await model.close();
  }
}

function describe(clients: number, { raw, served }: Turns): Figure[] {
  const perSecond = (ms: readonly number[]) => (TEXTS_PER_TURN * ms.length * 1000) / sum(ms);
  const ratios = served.map((ms, index) => (raw[index] ?? 0) / ms);
  const name = clients === 1 ? "1 client" : `${clients} clients`;
  return [
    {
      what: `store over HTTP, ${name}, waiting for both indexes`,
      figure: `${digits(perSecond(served))} texts/s`,
      ratio: `${digits(median(ratios))} of the bare model (${digits(perSecond(raw))} texts/s)`,
    },
  ];
}

async function embedAll(model: Inference, texts: readonly string[]): Promise<void> {
  for (const text of texts) await model.embed(text);
}

async function storeAll(client: Client, texts: readonly string[], clients: number): Promise<void> {
  const queue = texts.slice();
  const work = async (): Promise<void> => {
    for (let text = queue.shift(); text !== undefined; text = queue.shift()) {
      unwrap(await client.store(text));
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}
