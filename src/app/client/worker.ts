import { runAsWorker } from "synckit";
import type { Answer, Call } from "./messages.ts";

// A module that cannot be loaded must fail a call, so it is imported within one: a blocked caller would never learn of a thread that did
// not start.
runAsWorker(async (call: Call): Promise<Answer> => {
  const { answer } = await import("./answer.ts");
  return await answer(call);
});
