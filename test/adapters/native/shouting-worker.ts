/** A thread that shouts what it is told. */
import { answerCalls } from "../../../src/adapters/native/worker-calls.ts";

/** Longer than it takes to send a message. */
const WAIT_MS = 1000;

type Start = { readonly kind: "start"; readonly cacheDir: string };
type Shout = { readonly kind: "shout"; readonly id: number; readonly text: string };

answerCalls<Start, Shout, { close(): Promise<void> }, object>({
  load: async () => ({ close: async () => {} }),
  answer: async (_model, { id, text }) => {
    if (text === "wait") await Bun.sleep(WAIT_MS);
    if (text === "fail") throw new RangeError("not this word");
    if (text === "die") process.exit(1);
    return { kind: "shouted", id, text: text.toUpperCase() };
  },
  about: "a word",
});
