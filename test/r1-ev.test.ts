import { test, expect } from "bun:test";
import { useEngines } from "./engine/engines.ts";
const engines = useEngines();
test("reinforce with evidence many times", async () => {
  const { engine, store, pack } = await engines.open({});
  const { node, eventId } = await engine.storeWithReceipt({ userId: "ada", content: "the kayak key" });
  for (let i = 0; i <= 3000; i++) { const t = performance.now(); await engine.reinforce(node.id, { evidenceId: eventId }); if (i % 500 === 0) console.log(i, (performance.now() - t).toFixed(1), "ms", Bun.file((pack.layout as any).path).size >> 20, "MiB"); }
  const t = performance.now(); const p = await engine.getProvenance(node.id, { operationLimit: 1000 }); console.log("prov", performance.now() - t, JSON.stringify(p).length >> 20);
}, 120000);
