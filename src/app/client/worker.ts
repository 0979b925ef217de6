import { runAsWorker } from "synckit";
import type { Answer, Call } from "./messages.ts";

// A module that cannot be loaded must fail a call, which it does only if imported in one: the caller is blocked and would never
// learn of a thread that did not start.
runAsWorker(async (call: Call): Promise<Answer> => {
  const { answer } = await import("./answer.ts");
  return await answer(call);
});
