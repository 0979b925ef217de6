import { NO_FRAME } from "../listener/answers.ts";

const TYPE = "text/event-stream";
const HEADERS = {
  "content-type": TYPE,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": NO_FRAME,
  // A proxy must not wait for more.
  "x-accel-buffering": "no",
};
/** Milliseconds between two looks for changes, and between two signs of life. */
const TIMES = { look: 500, heartbeat: 15_000 };
/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1000;

/** Whether a request asks for an endless answer. */
export function wantsStream({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("accept")?.includes(TYPE) === true;
}

export type FeedPage = {
  readonly changes: readonly { readonly cursor: string }[];
  readonly next_cursor: string;
};

/**
 * The feed from a page on, as server-sent events. The next page is read when the caller has taken this one, so that a slow caller costs
 * the memory of one page.
 * @param pageAfter reads a page; an error ends the stream
 * @param signal ends the stream
 */
export function answerStream(
  first: FeedPage,
  pageAfter: (since: string) => Promise<FeedPage>,
  signal: AbortSignal,
  { look, heartbeat } = TIMES,
): Response {
  let page: FeedPage | undefined = first;
  let since = first.next_cursor;
  const next = async (): Promise<string | undefined> => {
    const from = performance.now();
    while (!signal.aborted) {
      page ??= await pageAfter(since);
      const { changes } = page;
      since = page.next_cursor;
      page = undefined;
      if (changes.length > 0) return changes.map(eventOf).join("");
      // A comment, which readers skip.
      if (performance.now() - from >= heartbeat) return ":\n\n";
      await Bun.sleep(look);
    }
    return undefined;
  };
  const bytes = new TextEncoder();
  // At once, so that the caller has the answer's head, and a place to go on from before anything has changed.
  let greeting: string | undefined = `retry: ${RETRY_MS}\nid: ${placeBefore(first)}\n\n`;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = greeting ?? (await next().catch(() => undefined));
        greeting = undefined;
        if (text === undefined) controller.close();
        else controller.enqueue(bytes.encode(text));
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

/** The caller has nothing yet of the first page. */
function placeBefore({ changes: [change], next_cursor: cursor }: FeedPage): string {
  return change === undefined ? cursor : String(Number(change.cursor) - 1);
}

function eventOf(change: FeedPage["changes"][number]): string {
  return `id: ${change.cursor}\ndata: ${JSON.stringify(change)}\n\n`;
}
