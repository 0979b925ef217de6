/**
 * Serves the inspector from source while it is worked on: `bun scripts/inspector.ts [--to http://127.0.0.1:8000]`. The page is built
 * again when a file of it changes, and reloads itself; `/v1` goes on to a running `svc serve`.
 */
import { watch } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { answerFile } from "../src/surface/http/inspector.ts";
import type { InspectorFile } from "../src/surface/http/inspector-files.ts";
import { buildPage, embedded } from "./build/page.ts";

const ROOT = join(import.meta.dir, "..");
const PORT = 8010;
/** Several files change at once when one is saved, or a branch is changed. */
const SETTLE_MS = 100;
const RELOAD = "/inspect/reload";

const { values } = parseArgs({
  options: { to: { type: "string", default: "http://127.0.0.1:8000" } },
});

let files: Readonly<Record<string, InspectorFile>> = {};
const waiting = new Set<() => void>();

async function build(): Promise<void> {
  try {
    const built = await buildPage(ROOT);
    const entries = built.map(({ name, type, content }) => [name, withReload(name, type, content)]);
    files = Object.fromEntries(entries);
    for (const reload of waiting) reload();
    waiting.clear();
    console.log(`built ${built.length} files`);
  } catch (error) {
    console.error(error instanceof AggregateError ? error.errors.join("\n") : error);
  }
}

/** The script is asked whether something was built, and reloads when it was. */
function withReload(name: string, type: string, content: Uint8Array<ArrayBuffer>): InspectorFile {
  if (!/^page-.*\.js$/.test(name)) return embedded(type, content);
  const reload = `\nfetch("${RELOAD}").then(() => location.reload(), () => {});`;
  return embedded(type, Buffer.concat([content, Buffer.from(reload)]));
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: PORT,
  idleTimeout: 0,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === RELOAD) {
      await new Promise<void>((done) => waiting.add(done));
      return new Response("built");
    }
    if (pathname.startsWith("/inspect/")) {
      return answerFile(files, pathname.slice("/inspect/".length), request.headers);
    }
    const { method, headers, body } = request;
    return await fetch(`${values.to}${pathname}${search}`, { method, headers, body });
  },
});

await build();
let settled: ReturnType<typeof setTimeout> | undefined;
watch(join(ROOT, "src"), { recursive: true }, (_, name) => {
  if (name?.includes("page/client") !== false) return;
  clearTimeout(settled);
  settled = setTimeout(build, SETTLE_MS);
});
console.log(`http://127.0.0.1:${server.port}/inspect/ asks ${values.to}`);
