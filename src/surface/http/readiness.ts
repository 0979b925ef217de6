import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { answerJson, refuse, refuseMethod } from "../listener/answers.ts";
import type { HttpApp } from "./app-env.ts";

/** Where a balancer of load asks whether to send requests here. */
export const READY_PATH = "/v1/ready";
/** Milliseconds for which an answer is repeated: everybody may ask, and the database shall not hear each of them. */
const KEPT_MS = 500;

/** Answers without a key whether questions can be answered. @param engine undefined while it is being opened */
export function addReadiness(app: HttpApp, engine: () => MemoryEngine | undefined): void {
  let kept: { readonly at: number; readonly isReady: Promise<boolean> } | undefined;
  const isReady = async (): Promise<boolean> => {
    try {
      await engine()?.ready();
      return engine() !== undefined;
    } catch {
      // Why is in the answers of other calls; anybody may ask here.
      return false;
    }
  };
  app.get(READY_PATH, async (context) => {
    context.set("route", READY_PATH);
    const now = performance.now();
    if (kept === undefined || now - kept.at > KEPT_MS) kept = { at: now, isReady: isReady() };
    if (await kept.isReady) return answerJson({ status: "ready" });
    return refuse(503, "not_ready", "The memory cannot answer", { "retry-after": "1" });
  });
  app.all(READY_PATH, (context) => {
    context.set("route", READY_PATH);
    return refuseMethod("GET, HEAD");
  });
}
