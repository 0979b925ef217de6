import { afterAll, afterEach, beforeAll, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { buildPage, embedded } from "../../scripts/build/page.ts";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { CONFIG_SCHEMA } from "../../src/config/schema.ts";
import type { ReceiptDetail } from "../../src/domain/records/receipt.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { OrganizerSettings } from "../../src/engine/settings.ts";
import type { Embedder } from "../../src/ports/models.ts";
import { examineIn } from "../../src/process/examine.ts";
import { INSPECTOR_FILES, type InspectorFile } from "../../src/surface/http/inspector-files.ts";
import { startHttpServer } from "../../src/surface/http/server.ts";
import type { AuthSettings } from "../../src/surface/listener/auth.ts";
import {
  DEFAULT_SETTINGS,
  engines,
  type OpenedEngine,
  REAL_MODEL,
  testClock,
} from "../engine/engines.ts";
import { type Story, tellStory } from "./story.ts";
import { closeBrowser, closeTabs, NO_BROWSER, NOW } from "./window.ts";

export const ROOT = join(import.meta.dir, "../..");
// Upkeep beside a question would change memories between two pictures.
const { open, close } = engines({ upkeep: undefined });
let page: Promise<Readonly<Record<string, InspectorFile>>> | undefined;
const stops: (() => Promise<void>)[] = [];

/** A server with the page as the executable has it, on a pack in this process. */
export type Served = OpenedEngine & { readonly url: string; readonly stop: () => Promise<void> };

export type ServeOptions = {
  readonly auth?: AuthSettings;
  /** Default: the model that ships with the program. */
  readonly embedder?: Embedder;
  /** After how many days without use a memory of a type fades; default: never. */
  readonly fadeAfterDays?: OrganizerSettings["fadeAfterDays"];
  /** Default: full receipts. */
  readonly receiptDetail?: ReceiptDetail;
  /** Puts something into the memory before it is served; default: the story. */
  readonly fill?: (engine: MemoryEngine, at: (instant: string) => void) => Promise<unknown>;
};

/** For a file of tests in a browser: each test's tabs are closed after it, and what it served after the last. @param begin before the first */
export function useBrowser(begin?: () => Promise<unknown>): void {
  setDefaultTimeout(60_000);
  beforeAll(async () => {
    if (NO_BROWSER === undefined) await begin?.();
  });
  afterEach(closeTabs);
  afterAll(endAll);
}

export type StoryPlace = Served & { readonly story: Story };

/** Serves the story. @param more is told after it */
export async function serveStory(
  options: Omit<ServeOptions, "fill"> = {},
  more?: (engine: MemoryEngine, story: Story) => Promise<unknown>,
): Promise<StoryPlace> {
  const told = Promise.withResolvers<Story>();
  const served = await serve({
    ...options,
    fill: async (engine, at) => {
      const story = await tellStory(engine, at);
      await more?.(engine, story);
      told.resolve(story);
    },
  });
  return { ...served, story: await told.promise };
}

/** Serves a memory with the page; it ends with {@link endAll}. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { auth = {}, embedder = REAL_MODEL, fill = tellStory, fadeAfterDays = {} } = options;
  const { receiptDetail = "full" } = options;
  page ??= builtPage();
  Object.assign(INSPECTOR_FILES, await page);
  const clock = testClock();
  const opened = await open({
    ...{ embedder, clock, ids: countingIds() },
    settings: {
      organizer: { ...DEFAULT_SETTINGS.organizer, fadeAfterDays },
      upkeep: undefined,
      receiptDetail,
    },
  });
  await fill(opened.engine, clock.set);
  clock.set(NOW);
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    version: "9.9.9",
    auth,
    cors: { origins: [], allowCredentials: false },
    allowUnauthenticatedExternalBind: false,
    log: () => {},
    openEngine: async () => opened.engine,
    examine: examineIn(CONFIG_SCHEMA.parse({ pack_path: mainPath(opened.pack.layout) }), true),
  });
  await server.ready;
  stops.push(server.stop);
  return { ...opened, url: server.url, stop: server.stop };
}

/**
 * The files of the page, built once in a process. They take the place of the empty list of files, as in the executable; not by the
 * plugin of the build: with one, the runtime forgets the macros of what it loads afterwards.
 */
async function builtPage(): Promise<Readonly<Record<string, InspectorFile>>> {
  const files = await buildPage(ROOT);
  return Object.fromEntries(
    files.map(({ name, type, content }) => [name, embedded(type, content)]),
  );
}

/** Ids in the order in which they are made, so that pictures of them are equal. */
function countingIds(): OpenedEngine["deps"]["ids"] {
  let last = 0;
  return {
    next: () => {
      last += 1;
      // SAFETY: this is a UUID of version 7 in canonical form.
      return `019a7c1e-${hex(last, 4)}-7000-8000-${hex(last, 12)}` as ReturnType<
        OpenedEngine["deps"]["ids"]["next"]
      >;
    },
  };
}

function hex(value: number, length: number): string {
  return (value % 16 ** length).toString(16).padStart(length, "0");
}

/** Ends all servers and the browser, for the end of a file. */
export async function endAll(): Promise<void> {
  await closeBrowser();
  for (const stop of stops.splice(0)) await stop();
  for (const name of Object.keys(INSPECTOR_FILES)) Reflect.deleteProperty(INSPECTOR_FILES, name);
  await close();
}
