/**
 * Measures the inspector: `bun scripts/bench/inspector.ts [--memories 100000] [--rounds 7] [--write]`. A real browser opens the page
 * that the built program serves, over a pack of that many memories. `--write` puts the result into docs/performance.md. Needs Chromium
 * (`CHROMIUM` names another than `/usr/bin/chromium`); build first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { createSystemClock } from "../../src/adapters/system/system.ts";
import { toEngineSettings } from "../../src/app/engine-settings.ts";
import { loadConfig } from "../../src/config/load.ts";
import { planRawNote } from "../../src/engine/write/plan.ts";
import { addSeconds, type Instant } from "../../src/lib/instant.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { openStore, turn } from "./fill.ts";
import { type Figure, type Section, toMarkdown, writePage } from "./report.ts";
import { createRandom, question } from "./sentences.ts";
import { endAllServers, startServer } from "./server.ts";
import { digits, median, quantile, sum } from "./stats.ts";

const PAGE = join(import.meta.dir, "../../docs/performance.md");
const USER = "bench";
const DAYS = 400;
const ROW = 48;
const ROWS = 10_000;
const FRAMES = 180;
/** A task of the page that takes longer is felt. */
const LONG_MS = 50;
const SEEN_WITHIN_MS = 30_000;

/** Notes when an element has been painted, in milliseconds since the page was asked for. */
const NOTE_PAINT = `(() => {
  const found = {};
  window.paintedAt = (name) => found[name];
  window.noteAgain = (name) => { delete found[name]; };
  const wanted = { rows: "a.row bdi", hits: ".hit bdi" };
  const look = () => {
    for (const [name, selector] of Object.entries(wanted)) {
      if (found[name] !== undefined || document.querySelector(selector) === null) continue;
      found[name] = null;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => { found[name] = performance.now(); };
        channel.port2.postMessage(0);
      });
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})()`;

/** Scrolls by the same height in every frame; gives the milliseconds between frames and the most rows that there were. */
const scrollBy = (perFrame: number): string => `new Promise((done) => {
  const frames = [];
  let last;
  let most = 0;
  const step = (now) => {
    if (last !== undefined) frames.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll(".place").length);
    if (frames.length === ${FRAMES}) {
      done({ frames, most });
      return;
    }
    window.scrollBy(0, ${perFrame});
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

type Scrolled = {
  readonly frames: readonly number[];
  readonly most: number;
  /** Processor milliseconds of each task of the page: other programs do not count. */
  readonly tasks: readonly number[];
};

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(NOTE_PAINT);
  return page;
}

/** Waits until something has been painted. @returns when, in milliseconds since the page was asked for */
async function painted(page: Page, name: "rows" | "hits"): Promise<number> {
  const end = performance.now() + SEEN_WITHIN_MS;
  while (performance.now() < end) {
    const at = await page.evaluate<number | null | undefined>(`paintedAt("${name}")`);
    if (typeof at === "number") return at;
    await Bun.sleep(20);
  }
  throw new Error(`${name} were not painted within ${SEEN_WITHIN_MS} ms`);
}

/** Milliseconds from the address to the first memories on the screen, in a window that knows nothing yet. */
async function measureOpening(browser: Browser, url: string): Promise<number> {
  const page = await openPage(browser);
  await page.goto(`${url}/inspect/timeline`);
  const at = await painted(page, "rows");
  // The counts of this window would keep the server from the next one.
  await page.waitForLoadState("networkidle");
  await page.context().close();
  return at;
}

/** Milliseconds from the end of the answer to its first result on the screen; each question is another. */
async function measureSearch(page: Page, serial: number): Promise<number> {
  const field = page.locator("input[data-question]");
  await page.evaluate(`performance.clearResourceTimings()`);
  await field.fill(question(createRandom(serial)));
  const answer = page.waitForResponse("**/v1/retrieve");
  await field.press("Enter");
  await (await answer).finished();
  await page.locator(".hit").first().waitFor();
  return await painted(page, "hits");
}

const ANSWERED_AT = `performance.getEntriesByType("resource").findLast(({ name }) => name.endsWith("/v1/retrieve")).responseEnd`;

type Searched = { readonly painted: number; readonly work: number };

async function measureSearches(
  browser: Browser,
  url: string,
  rounds: number,
): Promise<readonly Searched[]> {
  const times: Searched[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const page = await openPage(browser);
    await page.goto(`${url}/inspect/search`);
    await page.waitForLoadState("networkidle");
    const [at, tasks] = await withTasks(browser, page, () => measureSearch(page, round));
    const answeredAt = await page.evaluate<number>(ANSWERED_AT);
    times.push({ painted: at - answeredAt, work: sum(tasks) });
    await page.context().close();
  }
  return times;
}

/** Scrolls through rows, and as the probe through an empty page of the same height. */
async function measureScrolling(
  browser: Browser,
  url: string,
): Promise<{ readonly list: Scrolled; readonly probe: Scrolled }> {
  const page = await openPage(browser);
  await page.goto(`${url}/inspect/timeline`);
  await painted(page, "rows");
  const perFrame = (ROWS * ROW) / FRAMES;
  const list = await traced(browser, page, scrollBy(perFrame));
  await page.goto("about:blank");
  await page.evaluate(`document.body.style.height = "${ROWS * ROW * 2}px"`);
  const probe = await traced(browser, page, scrollBy(perFrame));
  await page.context().close();
  return { list, probe };
}

type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
  /** Microseconds of the processor. */
  readonly tdur?: number;
};

/** Runs a script in the page and notes what each task of the page's own thread took of the processor. */
async function traced(browser: Browser, page: Page, script: string): Promise<Scrolled> {
  const [found, tasks] = await withTasks(browser, page, () =>
    page.evaluate<Omit<Scrolled, "tasks">>(script),
  );
  return { ...found, tasks };
}

/** What some work gives, and what each task of the page took of the processor meanwhile, in milliseconds. */
async function withTasks<T>(
  browser: Browser,
  page: Page,
  run: () => Promise<T>,
): Promise<readonly [T, readonly number[]]> {
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
  const found = await run();
  const trace: unknown = JSON.parse((await browser.stopTracing()).toString());
  // SAFETY: the browser writes its events so.
  const { traceEvents } = trace as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(
    ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
  );
  const [busiest = []] = mains
    .map(({ pid, tid }) =>
      traceEvents.flatMap((one) =>
        one.pid === pid && one.tid === tid && /RunTask$/.test(one.name)
          ? [(one.tdur ?? 0) / 1000]
          : [],
      ),
    )
    .toSorted((one, other) => sum(other) - sum(one));
  if (busiest.length === 0) throw new Error("the browser noted no tasks");
  return [found, busiest];
}

function sectionOf(
  memories: number,
  times: {
    readonly openings: readonly number[];
    readonly searches: readonly Searched[];
    readonly scrolls: readonly { readonly list: Scrolled; readonly probe: Scrolled }[];
  },
): Section {
  const { openings, searches, scrolls } = times;
  const answers = searches.map(({ painted }) => painted);
  const [first = 0, ...later] = openings;
  const frames = scrolls.flatMap(({ list }) => list.frames);
  const empty = scrolls.flatMap(({ probe }) => probe.frames);
  const tasks = scrolls.flatMap(({ list }) => list.tasks);
  const none = scrolls.flatMap(({ probe }) => probe.tasks);
  const late = tasks.filter((ms) => ms > LONG_MS);
  const work = sum(tasks) / frames.length;
  const p95 = quantile(frames, 0.95);
  const line = (what: string, figure: string, ratio = "-"): Figure => ({ what, figure, ratio });
  return {
    title: "Inspector",
    command: `bun scripts/bench/inspector.ts --memories ${memories}`,
    notes: [
      `${memories.toLocaleString("en-US")} memories of ${DAYS} days; Chromium, headless, without a graphics processor, in a window of 1,440 by 900. Opening: from the address to the first memories painted, in a window that knows nothing; the first one reads the counts from the disk. A search answer: from its last byte to its first result painted; the other rows and the checks follow.`,
      `Scrolling: ${ROWS.toLocaleString("en-US")} rows in ${FRAMES} frames, ${scrolls.length} times. The probe is an empty page of the same height in the same browser. A long task takes more than ${LONG_MS} ms of the processor. Load of the machine meanwhile: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores; times by the clock grow with it.`,
    ],
    figures: [
      line("opening, the first after the start of the server", `${digits(first)} ms`),
      line("opening", `median ${digits(median(later))} ms, worst ${digits(Math.max(...later))} ms`),
      line(
        "search answer painted",
        `median ${digits(median(answers))} ms, worst ${digits(Math.max(...answers))} ms`,
        `${digits(median(searches.map(({ work }) => work)))} ms of the processor, with the typing`,
      ),
      line(
        "frames while scrolling",
        `p50 ${digits(median(frames))} ms, p95 ${digits(p95)} ms`,
        `p95 ${digits(p95 / quantile(empty, 0.95))} x an empty page`,
      ),
      line(
        "rows in the document while scrolling",
        `at most ${Math.max(...scrolls.map(({ list }) => list.most))}`,
      ),
      line(
        "work of a frame while scrolling",
        `${digits(work)} ms of the processor`,
        `${digits(sum(none) / empty.length)} ms for an empty page`,
      ),
      line(
        "long tasks while scrolling",
        `${late.length}; the longest task ${digits(Math.max(...tasks))} ms of the processor`,
      ),
    ],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      memories: { type: "string", default: "100000" },
      rounds: { type: "string", default: "7" },
      write: { type: "boolean", default: false },
    },
  });
  const [memories, rounds] = [Number(values.memories), Number(values.rounds)];
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const pack = join(folder, "inspector.pack");
    const store = await openStore(pack);
    await fillDays(store, { userId: USER, from: 0, to: memories, of: memories, days: DAYS });
    await store.close();
    console.error("inspector: pack filled");
    const { url } = await startServer({ pack });
    const browser = await chromium.launch({
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    const openings: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      openings.push(await measureOpening(browser, url));
    }
    const searches = await measureSearches(browser, url, rounds);
    const scrolls = [];
    for (let round = 0; round < 3; round += 1) scrolls.push(await measureScrolling(browser, url));
    await browser.close();
    const section = sectionOf(memories, { openings, searches, scrolls });
    console.log(toMarkdown(section));
    if (values.write) writePage(PAGE, [section]);
  } finally {
    await endAllServers();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();

const BATCH = 500;
const DAY_SECONDS = 86_400;
const SETTINGS = toEngineSettings(loadConfig({ environment: {} }).config);
const NOW = createSystemClock().now();

/** Whose memories are added, and which: the serials from `from` inclusive to `to` exclusive of `of` memories in all, over some days until now. */
type Span = {
  readonly userId: string;
  readonly from: number;
  readonly to: number;
  readonly of: number;
  readonly days: number;
};

/** Adds memories, the oldest first, with vectors of which few are near each other. */
async function fillDays(store: Store, { userId, from, to, of, days }: Span): Promise<void> {
  const { embedding } = await store.manifest();
  for (let start = from; start < to; start += BATCH) {
    const serials = Array.from({ length: Math.min(BATCH, to - start) }, (_, at) => start + at);
    const events = serials.map((serial) => {
      const age = Math.round(days * DAY_SECONDS * (1 - serial / of));
      return { ...turn(userId, serial), timestamp: before(age) };
    });
    await store.admit({ events, auditRecords: [], leaseJobs: true });
    await store.materialize(
      events.map((event, at) => ({
        eventId: event.id,
        node: { ...planRawNote(event, SETTINGS), ttlDays: undefined },
        vector: vectorOf(serials[at] ?? 0, embedding.dimension),
        lexical: true,
        failure: undefined,
        at: NOW,
      })),
    );
  }
}

function before(seconds: number): Instant {
  const moment = addSeconds(NOW, -seconds);
  if (moment === undefined) throw new Error("the calendar ends here");
  return moment;
}

function vectorOf(serial: number, dimension: number): Float32Array {
  const random = createRandom(serial);
  const vector = Float32Array.from({ length: dimension }, () => random() - 0.5);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
