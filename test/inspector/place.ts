import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { buildPage, embedded } from "../../scripts/build/page.ts";
import { CHROMIUM } from "../../scripts/check/test-programs.ts";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { CONFIG_SCHEMA } from "../../src/config/schema.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";
import type { Embedder } from "../../src/ports/embedder.ts";
import { examineIn } from "../../src/process/examine.ts";
import { INSPECTOR_FILES } from "../../src/surface/http/inspector-files.ts";
import { startHttpServer } from "../../src/surface/http/server.ts";
import type { AuthSettings } from "../../src/surface/listener/auth.ts";
import { engines, type OpenedEngine, REAL_MODEL, testClock } from "../engine/engines.ts";
import type { Lacking } from "../left-out.ts";
import { until } from "../until.ts";
import { tellStory } from "./story.ts";

export const ROOT = join(import.meta.dir, "../..");
const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
/** Now, for the page: after all that the story tells. */
export const NOW = "2026-11-22T16:05:00Z";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
];

/** Why the inspector is not tried in a browser here. */
export const NO_BROWSER: Lacking = existsSync(CHROMIUM) ? undefined : `it takes ${CHROMIUM}`;

// Upkeep beside a question would change memories between two pictures.
const { open, close } = engines({ upkeep: undefined });
let browser: Promise<Browser> | undefined;
let isPageThere: Promise<void> | undefined;
const stops: (() => Promise<void>)[] = [];

/** A server with the page as the executable has it, on a pack in this process. */
export type Served = OpenedEngine & { readonly url: string; readonly stop: () => Promise<void> };

export type ServeOptions = {
  readonly auth?: AuthSettings;
  /** Default: the model that ships with the program. */
  readonly embedder?: Embedder;
  /** Puts something into the memory before it is served; default: the story. */
  readonly fill?: (engine: MemoryEngine, at: (instant: string) => void) => Promise<unknown>;
};

/** Serves a memory with the page; it ends with {@link endAll}. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { auth = {}, embedder = REAL_MODEL, fill = tellStory } = options;
  isPageThere ??= putPage();
  await isPageThere;
  const clock = testClock();
  const opened = await open({ embedder, clock, ids: countingIds() });
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

/** The built page takes the place of the empty list of files, as in the executable. */
async function putPage(): Promise<void> {
  const files = await buildPage(ROOT);
  const entries = files.map(({ name, type, content }) => [name, embedded(type, content)]);
  // Not by the plugin of the build: with one, the runtime forgets the macros of what it loads afterwards.
  Object.assign(INSPECTOR_FILES, Object.fromEntries(entries));
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

export type LookOptions = {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly javaScript?: boolean;
  readonly zone?: string;
  /** That the tab has from its first page on. */
  readonly key?: string;
  /** What the clock of the browser says. Default: {@link NOW}. */
  readonly now?: string;
};

/** A page of a browser that watches for what must never happen. */
export type Looked = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the policy, errors of scripts, dialogs, and requests that leave the server; always empty. */
  readonly faults: string[];
  /** Goes to a path below `/inspect/` and waits until nothing is being read. */
  go(path: string): Promise<void>;
  /** What axe-core finds, one line each; always empty. @param rules only those about colours, or all but them. Default: all */
  axe(rules?: "all" | "colours" | "sizes"): Promise<readonly string[]>;
};

function running(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: CHROMIUM,
    args: ARGS,
    // The same fonts everywhere, where they are installed.
    env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dir, "fonts.conf") },
  });
  return browser;
}

/** Of the browser, such as `156.0.8078.79`. */
export async function browserVersion(): Promise<string> {
  return (await running()).version();
}

/** Opens the page of a server in a window of its own. */
export async function look(url: string, options: LookOptions = {}): Promise<Looked> {
  const { width = 1440, height = 900, scheme = "light", javaScript = true } = options;
  const { zone = "UTC", now = NOW, key } = options;
  const context = await (await running()).newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: zone,
    javaScriptEnabled: javaScript,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.clock.setFixedTime(now);
  const faults: string[] = [];
  await page.exposeFunction("tellViolation", (text: string) => faults.push(text));
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (e) => tellViolation("violation: " + e.violatedDirective + " " + e.blockedURI));`,
  );
  if (key !== undefined) {
    await page.addInitScript(`sessionStorage.setItem("svc.key", ${JSON.stringify(key)})`);
  }
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // A refused call is no fault of the page.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) {
      faults.push(`console: ${message.text()}`);
    }
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) {
      faults.push(`request: ${request.url()}`);
    }
  });
  const settled = async (): Promise<void> => {
    await page.waitForLoadState("load");
    // A function to wait for would be made of text in the page, which its policy refuses.
    await until(async () => !javaScript || (await page.evaluate<boolean>(SETTLED)));
  };
  return {
    page,
    context,
    faults,
    go: async (path) => {
      await page.goto(`${url}/inspect/${path}`);
      await settled();
    },
    axe: async (rules = "all") => {
      await settled();
      if (!(await page.evaluate<boolean>(`"axe" in window`))) await page.evaluate(AXE);
      return await page.evaluate<string[]>(runAxe(RULES[rules]));
    },
  };
}

/** Has the page look at the server at once, which it does when somebody comes back to it. */
export const LOOK_AGAIN = `document.dispatchEvent(new Event("visibilitychange"))`;
const SETTLED = `document.querySelector("h1") !== null && document.querySelector("[aria-busy=true]") === null`;
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOURS = ["color-contrast", "link-in-text-block"];
const RULES = {
  all: { runOnly: TAGS },
  colours: { runOnly: { type: "rule", values: COLOURS } },
  sizes: {
    runOnly: TAGS,
    rules: Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }])),
  },
};
const runAxe = (options: object): string => `axe.run(document, ${JSON.stringify(options)})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 160) + " " + failureSummary)))`;

/** Ends all servers and the browser, for the end of a file. */
export async function endAll(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
  for (const name of Object.keys(INSPECTOR_FILES)) Reflect.deleteProperty(INSPECTOR_FILES, name);
  isPageThere = undefined;
  await close();
  const started = browser;
  browser = undefined;
  await (await started)?.close();
}
