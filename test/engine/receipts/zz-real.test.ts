import { test } from "bun:test";
import { useEngines, REAL_MODEL } from "/work/main/test/engine/engines.ts";
import { createSystemClock } from "/work/main/src/adapters/system/clock.ts";
const engines = useEngines();
test("real", async () => {
  const data = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await Bun.file("/work/shared/data/locomo-dev.json.gz").bytes())));
  const c = data.conversations[0];
  const { engine, warnings, store } = await engines.open({ embedder: REAL_MODEL, clock: createSystemClock() });
  const turns = c.sessions.flatMap((s: any) => s.turns.map((t: any) => ({ s, t })));
  for (let i = 0; i < turns.length; i += 50) await engine.ingestFastMany({ userId: "u", items: turns.slice(i, i + 50).map(({ s, t }: any) => ({ content: t.text, role: t.role, speaker: t.speaker, sessionId: s.id, eventTime: s.time })) } as any);
  await engine.processPending({ userId: "u", budgetMs: 60000 });
  console.log(turns.length, await engine.stats("u"));
  const rows: any[] = []; const ids: any[] = [];
  for (const q of c.questions.slice(0, 40)) { const r = await engine.retrieve({ query: q.question, userId: "u" }); ids.push(r.metadata.requestId); }
  for (const id of ids) { const k = await engine.getRetrievalReceipt(id, "u"); const b = (await store.receipt(id, "u"))!.body; rows.push({ n: k!.receipt.candidates.length, bases: new Set([...k!.receipt.scoreProvenance.values()].map((p) => p.baseNodeId)).size, ctx: k!.record.context.length, bytes: b.length, z: Math.min(b.length, Bun.zstdCompressSync(b, { level: 1 }).length), text: k!.text.length }); }
  const avg = (k: string) => rows.reduce((s, r) => s + r[k], 0) / rows.length;
  console.log(Object.fromEntries(["n", "bases", "ctx", "bytes", "z", "text"].map((k) => [k, avg(k).toFixed(0)])), "max z", Math.max(...rows.map((r) => r.z)), warnings.slice(0, 5), warnings.length);
}, 300000);
