import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Request,
} from "playwright-core";
import { CHROMIUM } from "../../scripts/check/test-programs.ts";
import type { Lacking } from "../left-out.ts";
import { until } from "../until.ts";

const AXE_FILE = join(import.meta.dir, "../../node_modules/axe-core/axe.min.js");
/** Now, for the page: after all that the story tells. */
export const NOW = "2026-11-22T16:05:00Z";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  // A process for each tab would compile the page again for each.
  "--process-per-site",
];

/** Why the inspector is not tried in a browser here. */
export const NO_BROWSER: Lacking = existsSync(CHROMIUM) ? undefined : `it takes ${CHROMIUM}`;

/** A browser with a context for the tabs of all tests: one for each test would cost a second of a processor. */
type Running = { readonly browser: Browser; readonly context: BrowserContext };
let running: Promise<Running> | undefined;

async function start(): Promise<Running> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ARGS,
    // The same fonts everywhere, where they are installed.
    env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dir, "fonts.conf") },
  });
  const context = await newContext(browser, {});
  // Its window and its process stay while the tabs of the tests come and go.
  const first = await context.newPage();
  await first.route("**", (route) => route.fulfill({ body: "" }));
  await first.goto("http://127.0.0.1/");
  return { browser, context };
}

function run(): Promise<Running> {
  running ??= start();
  return running;
}

/** Of the browser, such as `156.0.8078.79`. */
export async function browserVersion(): Promise<string> {
  return (await run()).browser.version();
}

/** Closes the browser with all windows. */
export async function closeBrowser(): Promise<void> {
  const started = await running;
  running = undefined;
  const contexts = started?.browser.contexts() ?? [];
  for (const page of contexts.flatMap((context) => context.pages())) {
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
  await started?.browser.close();
  // A file that closes its tabs itself may have left some to the next one in this process.
  tabs.clear();
}

const SIZE = { width: 1440, height: 900 };
type ContextOptions = Pick<LookOptions, "javaScript" | "zone" | "now">;

async function newContext(browser: Browser, options: ContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: SIZE,
    colorScheme: "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: options.zone ?? "UTC",
    javaScriptEnabled: options.javaScript ?? true,
    permissions: ["clipboard-read", "clipboard-write"],
  } satisfies BrowserContextOptions);
  context.setDefaultTimeout(30_000);
  await context.clock.setFixedTime(options.now ?? NOW);
  await context.exposeBinding("tellViolation", ({ page }, text: string) => {
    faultsOf.get(page)?.push(text);
  });
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (e) => tellViolation("violation: " + e.violatedDirective + " " + e.blockedURI));`,
  );
  return context;
}

export type LookOptions = {
  readonly width?: number;
  readonly height?: number;
  readonly javaScript?: boolean;
  readonly zone?: string;
  /** That the tab has from its first page on. */
  readonly key?: string;
  /** What the clock of the browser says. Default: {@link NOW}. */
  readonly now?: string;
  /** For a test that changes or watches what other tabs share: whether there is a network, which tabs there are. */
  readonly isAlone?: boolean;
};

/** A page of a browser that watches for what must never happen. */
export type Looked = {
  readonly page: Page;
  /** Violations of the policy, errors of scripts, dialogs, and requests that leave the server; always empty. */
  readonly faults: string[];
  /** Goes to a path below `/inspect/` and waits until the page has settled. */
  go(path: string): Promise<void>;
  /** Waits until nothing is being read and all that was read is on the screen. */
  settled(): Promise<void>;
  /** What axe-core finds, one line each; always empty. @param rules only those about colours, all but them, or those about places. Default: all */
  axe(rules?: keyof typeof RULES): Promise<readonly string[]>;
  close(): Promise<void>;
};

const faultsOf = new WeakMap<Page, string[]>();
const tabs = new Set<Looked>();

/** Closes the tabs of a test, none of which may have seen a fault. */
export async function closeTabs(): Promise<void> {
  const open = [...tabs];
  for (const tab of open) await tab.close();
  expect(open.flatMap(({ faults }) => faults)).toEqual([]);
}

/** Opens the page of a server in a tab of its own. */
export async function look(url: string, options: LookOptions = {}): Promise<Looked> {
  const { width = SIZE.width, height = SIZE.height } = options;
  const { javaScript = true, zone, now, key, isAlone = false } = options;
  const { browser, context: shared } = await run();
  const isOther = isAlone || !javaScript || zone !== undefined || now !== undefined;
  const context = isOther ? await newContext(browser, options) : shared;
  const page = await context.newPage();
  if (width !== SIZE.width || height !== SIZE.height) await page.setViewportSize({ width, height });
  if (key !== undefined) {
    await page.addInitScript(`sessionStorage.setItem("svc.key", ${JSON.stringify(key)})`);
  }
  const faults = watchFaults(page, url);
  const requests = watchRequests(page);
  const settled = async (): Promise<void> => {
    await page.waitForLoadState("load");
    await until(async () => {
      const { started } = requests;
      if (requests.open.size > 0) return false;
      const isShown = !javaScript || (await page.evaluate<boolean>(SETTLED).catch(isLeft));
      return isShown && requests.open.size === 0 && requests.started === started;
    });
  };
  const looked: Looked = {
    page,
    faults,
    settled,
    go: async (path) => {
      // What the page that is left still asks is cut off, at times without a word.
      requests.open.clear();
      await page.goto(`${url}/inspect/${path}`);
      await settled();
    },
    axe: async (rules = "all") => {
      await settled();
      if (!(await page.evaluate<boolean>(`"axe" in window`))) await page.evaluate(axeSource());
      return await page.evaluate<string[]>(runAxe(RULES[rules]));
    },
    close: async () => {
      tabs.delete(looked);
      // An answer that a route still waits for would fail in the place of the page.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await (isOther ? context : page).close();
    },
  };
  tabs.add(looked);
  return looked;
}

function watchFaults(page: Page, url: string): string[] {
  const faults: string[] = [];
  faultsOf.set(page, faults);
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
  return faults;
}

/** The requests of a page that have no answer yet, and how many it has made. */
function watchRequests(page: Page): { readonly open: Set<Request>; readonly started: number } {
  const open = new Set<Request>();
  let started = 0;
  page.on("request", (request) => {
    open.add(request);
    started += 1;
  });
  for (const end of ["requestfinished", "requestfailed"] as const) {
    page.on(end as "requestfinished", (request) => open.delete(request));
  }
  return {
    open,
    get started() {
      return started;
    },
  };
}

/** Two frames later an answer that has come is drawn, and what follows from the drawing is asked. */
const SETTLED = `new Promise((done) => {
  const isSettled = () => document.querySelector("h1") !== null && document.querySelector("[aria-busy=true]") === null;
  requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => done(isSettled()))));
})`;

/** A page that goes elsewhere while it is asked has not settled. */
function isLeft(error: unknown): false {
  if (/context was destroyed|navigati/i.test(String(error))) return false;
  throw error;
}

/** Has the page look at the server at once, which it does when somebody comes back to it. */
export const LOOK_AGAIN = `document.dispatchEvent(new Event("visibilitychange"))`;

/** Waits until a text is on the screen, in one place or in several. */
export async function seen(
  within: Page | Locator,
  text: string | RegExp,
  options: { readonly exact?: boolean } = {},
): Promise<void> {
  const places = within.getByText(text, options).filter({ visible: true });
  await places.first().waitFor();
}

/** Waits until a text is on the screen nowhere. */
export async function gone(within: Page | Locator, text: string | RegExp): Promise<void> {
  const places = within.getByText(text).filter({ visible: true });
  await places.first().waitFor({ state: "detached" });
}

/** Holds back the next call of a path. @returns lets it go on to the server */
export async function holdAnswer(page: Page, pattern: string): Promise<() => void> {
  let answer = (): void => {};
  await page.route(
    pattern,
    async (route) => {
      await new Promise<void>((done) => {
        answer = done;
      });
      await route.continue();
    },
    { times: 1 },
  );
  return () => answer();
}

/** Begins to write by a key of a view, and fills the text in. */
export async function write(
  { page, go }: Looked,
  [path, key, text]: readonly [path: string, key: string, text: string],
): Promise<Locator> {
  await go(path);
  await page.keyboard.press(key);
  const field = page.getByRole("textbox", { name: "What is true" });
  await field.fill(text);
  return field;
}

/** The middle of something on the screen, in pixels from above. */
export async function middleOf(one: Locator): Promise<number | undefined> {
  const box = await one.boundingBox();
  return box === null ? undefined : Math.round(box.y + box.height / 2);
}

/** Has the server do what the next call of a path asks for, and loses its answer. */
export async function loseAnswer(page: Page, pattern: string): Promise<void> {
  await page.route(
    pattern,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOURS = ["color-contrast", "link-in-text-block"];
/** The rules that measure. */
const PLACES = ["target-size", "scrollable-region-focusable", "css-orientation-lock"];
/** Only what is wrong is described: the rest costs a third of the time. */
const WRONG = { resultTypes: ["violations"], selectors: false };
const RULES = {
  all: { ...WRONG, runOnly: TAGS },
  colours: { ...WRONG, runOnly: { type: "rule", values: COLOURS } },
  places: { ...WRONG, runOnly: { type: "rule", values: PLACES } },
  sizes: {
    ...WRONG,
    runOnly: TAGS,
    rules: Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }])),
  },
};
const runAxe = (options: object): string => `axe.run(document, ${JSON.stringify(options)})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 160) + " " + failureSummary)))`;

let axe: string | undefined;
function axeSource(): string {
  axe ??= readFileSync(AXE_FILE, "utf8");
  return axe;
}
