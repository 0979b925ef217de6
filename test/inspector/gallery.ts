/** Every view with something in it, for pictures of them and for what must hold in all. */
import type { Page } from "playwright-core";
import { type GoingPlace, serveGoing } from "./going-story.ts";
import { type Served, serveStory } from "./place.ts";
import type { Story } from "./story.ts";
import { serveThings, type ThingsPlace } from "./things-story.ts";

/** The servers of the gallery, with the ids of what they hold. */
export type Gallery = {
  readonly story: Story;
  readonly main: Served;
  readonly things: ThingsPlace;
  readonly going: GoingPlace;
};

export async function openGallery(): Promise<Gallery> {
  const main = await serveStory();
  return { main, story: main.story, things: await serveThings(), going: await serveGoing() };
}

type View = {
  readonly server: "main" | "things" | "going";
  readonly path: (gallery: Gallery) => string;
};

const main = (path: View["path"]): View => ({ server: "main", path });
const things = (path: View["path"]): View => ({ server: "things", path });
const going = (path: View["path"]): View => ({ server: "going", path });

/** The views by their names; where one has several faces, each of them. */
export const GALLERY = {
  overview: main(() => ""),
  timeline: main(() => "timeline"),
  search: main(({ story }) => `search/${story.requestId}`),
  asking: main(() => "search"),
  memory: main(({ story }) => `memory/${story.ids.thursday}`),
  conflicts: main(() => "conflicts"),
  things: things(() => "things"),
  thing: things((gallery) => `things/${gallery.things.nodes.milan.id}`),
  claims: things(() => "claims"),
  activity: main(() => "activity"),
  forgetting: going(() => "forgetting"),
  health: main(() => "health"),
} as const satisfies Readonly<Record<string, View>>;

export type ViewName = keyof typeof GALLERY;
// SAFETY: the names are the table's own.
export const VIEW_NAMES = Object.keys(GALLERY) as readonly ViewName[];

export function addressOf(gallery: Gallery, name: ViewName): { url: string; path: string } {
  const { server, path } = GALLERY[name];
  return { url: gallery[server].url, path: path(gallery) };
}

const CHECKS = ["pack", "opens", "format", "tables", "integrity", "log", "indexes", "receipts"];

/** What differs from run to run: paths and space of this machine, and what its model has worked. */
export async function steady(page: Page): Promise<void> {
  const checks = [
    ...CHECKS.map((name) => ({ name, status: "ok", message: "as it should be" })),
    {
      name: "key",
      status: "warn",
      message:
        "encrypted; the key is known from one place only. If you lose the key, you lose the pack: keep a backup elsewhere, made with: svc key export /home/anna/memory.pack",
    },
  ];
  const json = { ok: true, passed: CHECKS.length, warnings: 1, failures: 0, checks };
  await page.route("**/v1/doctor", (route) => route.fulfill({ json }));
  await page.route("**/v1/stats*", async (route) => {
    const response = await route.fetch();
    const { details, ...rest } = await response.json();
    const bytes = details.bytes === null ? null : 800_000;
    const embeddings = { asked: 61, computed: 58, failed: 0, seconds: 1 };
    await route.fulfill({
      response,
      json: { ...rest, details: { ...details, bytes, embeddings } },
    });
  });
}

/** Milliseconds that a search took stand in some views. */
export const STEADY_TIMES = `{
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode } = texts;
    if (/^\\d+ ms$/.test(currentNode.data)) currentNode.data = "9 ms";
  }
}`;
