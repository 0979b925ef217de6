// temporary torture worker (R1), removed afterwards
import { createChronoDateReader } from "../src/adapters/dates/chrono.ts";
import { createIdSource } from "../src/adapters/system/ids.ts";
import { createSystemClock } from "../src/adapters/system/clock.ts";
import { createEngine } from "../src/engine/engine.ts";
import { openSqlitePack, directoryPack, filePack } from "./contract/sqlite-pack.ts";
import { DEFAULT_SETTINGS, tokenizer, wordEmbedder } from "./engine/engines.ts";
const [folder = "", kind = "file", ms = "4000", seed = "1", role = "change"] = process.argv.slice(2);
const pack = kind === "file" ? filePack(folder) : directoryPack(folder);
const embedder = wordEmbedder();
const clock = createSystemClock();
const settings = { ...DEFAULT_SETTINGS, storeSteps: { ...DEFAULT_SETTINGS.storeSteps, pairsTurns: role === "pairs" } };
const store = await openSqlitePack(pack, { embedding: embedder.identity, scoringVersion: settings.scoringVersion, clock });
const engine = createEngine({ store, embedder, tokenizer, dates: createChronoDateReader({ languages: settings.temporalLanguages, warn: () => {} }), clock, ids: createIdSource(), settings, features: { svc: "t" }, warn: (m) => console.error(`[${seed}] warn ${m}`) });
let s = Number(seed) * 7919;
const rnd = (n: number) => { s = (s * 1103515245 + 12345) & 0x7fffffff; return (s >> 8) % n; };
const W = "kayak harbour tea coffee sushi red green boat rain wind lamp door".split(" ");
const text = () => Array.from({ length: 3 + rnd(5) }, () => W[rnd(W.length)]).join(" ");
const end = performance.now() + Number(ms);
const counts: Record<string, number> = {};
const note = (k: string) => { counts[k] = (counts[k] ?? 0) + 1; };
const one = async () => {
  const nodes = await engine.queryNodes({ userId: "ada", limit: 60 });
  const pick = () => nodes[rnd(nodes.length)]?.id ?? "00000000-0000-4000-8000-000000000000";
  const ops: Record<string, () => Promise<unknown>> = {
    store: () => engine.store({ userId: "ada", content: text(), sessionId: `s${rnd(2)}`, role: rnd(2) ? "user" : "assistant", ttlDays: rnd(10) === 0 ? 0 : undefined }),
    fast: () => engine.ingestFast({ userId: "ada", content: text(), sessionId: `s${rnd(2)}` }),
    process: () => engine.processPending({ budgetMs: 50 }),
    promote: () => engine.promote(pick()),
    archive: () => engine.archive(pick()),
    reinforce: () => engine.reinforce(pick()),
    supersede: () => engine.supersede(pick(), pick()),
    contradict: () => engine.contradict(pick(), pick()),
    resolve: () => { const c = nodes.filter((n) => n.lifecycleState === "contested"); const a = c[rnd(c.length)], b = c[rnd(c.length)]; return engine.resolveContradiction(a?.id ?? pick(), b?.id ?? pick()); },
    retrieve: async () => { const r = await engine.retrieve({ userId: "ada", query: text(), limit: 10 }); for (const x of r.results) if (!["tentative", "stable", "contested"].includes(x.node.lifecycleState)) note("RETIRED IN RESULTS"); },
  };
  const names = role === "rebuild" ? ["rebuild"] : Object.keys(ops);
  const name = names[rnd(names.length)] ?? "store";
  try {
    if (name === "rebuild") await engine.rebuildIndexes({ all: rnd(2) === 0, batchSize: 7 });
    else await ops[name]?.();
    note(name);
  } catch (e) {
    const code = (e as { code?: string }).code ?? String(e);
    note(`${name}:${code}`);
    if (!["invalid_transition", "invalid_argument", "not_found", "storage_busy"].includes(code)) console.error(`[${seed}]`, name, e);
  }
};
while (performance.now() < end) await Promise.all(Array.from({ length: role === "rebuild" ? 1 : 4 }, one));
await engine.close();
console.log(JSON.stringify({ seed, counts }));
