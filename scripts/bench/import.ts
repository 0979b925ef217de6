/**
 * Measures the admission of an import: `bun scripts/bench/import.ts [--messages 100000]`. The source is a made-up export of ChatGPT, of 2
 * kB a message. Words, which follow the admission, are not counted; memory is what the process has more than before.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MemoryEngine } from "../../src/library.ts";

const IN_ONE = 50;
const CHARS = 1500;
/** Milliseconds between two looks at the memory. */
const LOOK_MS = 20;
const WORDS = Array.from({ length: 5000 }, (_, at) => `wo${((at * 7919) % 5000).toString(36)}`);

const { values } = parseArgs({ options: { messages: { type: "string", default: "100000" } } });
const messages = Number(values.messages);
const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
try {
  const source = join(folder, "conversations.json");
  await write(source);
  const engine = await MemoryEngine.create({
    ...{ pack_path: join(folder, "memory.pack"), encryption_enabled: false },
  });
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, LOOK_MS);
  const [at, used] = [performance.now(), process.cpuUsage()];
  const stop = new AbortController();
  const onProgress = (stage: string): void => {
    if (stage === "words") stop.abort();
  };
  await engine
    .importSource({ source, userId: "ada", signal: stop.signal, onProgress })
    .catch(() => {});
  const seconds = (performance.now() - at) / 1000;
  const { user, system } = process.cpuUsage(used);
  clearInterval(look);
  const { events } = await engine.storeCounts("ada");
  const rate = (time: number): string => `${Math.round(events / time)} a second`;
  console.log(`${events} messages, ${Math.round(statSync(source).size / 1e6)} MB`);
  console.log(`processor ${rate((user + system) / 1e6)}, clock ${rate(seconds)}`);
  console.log(`memory +${Math.round((most - before) / 1e6)} MB`);
  await engine.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function write(path: string): Promise<void> {
  const file = Bun.file(path).writer();
  let seed = 1;
  const word = (): string => {
    seed = (seed * 16_807) % 2_147_483_647;
    return WORDS[seed % WORDS.length] ?? "";
  };
  const text = (): string => {
    let made = word();
    while (made.length < CHARS) made += ` ${word()}`;
    return made;
  };
  file.write("[");
  for (let first = 0; first < messages; first += IN_ONE) {
    const nodes = Array.from({ length: Math.min(IN_ONE, messages - first) }, (_, at) => {
      const id = `m${first + at}`;
      const author = { role: at % 2 === 0 ? "user" : "assistant", name: null, metadata: {} };
      const content = { content_type: "text", parts: [text()] };
      const metadata = { timestamp_: "absolute", request_id: "x".repeat(100) };
      const message = { id, author, create_time: 1.6e9 + first + at, content, metadata };
      return [id, { id, parent: at === 0 ? null : `m${first + at - 1}`, children: [], message }];
    });
    const mapping = Object.fromEntries(nodes);
    const about = { title: `About ${first}`, create_time: 1.6e9, conversation_id: `c${first}` };
    const current_node = `m${first + nodes.length - 1}`;
    file.write(`${first === 0 ? "" : ","}${JSON.stringify({ ...about, mapping, current_node })}`);
    await file.flush();
  }
  file.write("]");
  await file.end();
}
