import { type Signal, signal } from "@preact/signals";

const BASE = "/inspect/";

/** The page's location: a view, the rest of the path, and filters. Never a question or a text: browsers keep addresses. */
type Place = { readonly view: string; readonly id: string; readonly query: URLSearchParams };

export const place = signal<Place>(read());

function read(): Place {
  const parts = location.pathname.slice(BASE.length).split("/");
  const [view = "", id = ""] = parts.map((part) => decoded(part));
  return { view, id, query: new URLSearchParams(location.search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Sets a signal where only an expression is allowed. */
export function assign<T>(to: Signal<T>, value: T): void {
  to.value = value;
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The address of a place. Keeps the owner unless `query` names another. */
export function hrefOf(view: string, id = "", query: Query = {}): string {
  const owner = place.value.query.get("owner") ?? undefined;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ owner, ...query })) {
    for (const one of value === undefined ? [] : [value].flat()) params.append(name, one);
  }
  const path = [view, id].filter((part) => part !== "").map(encodeURIComponent);
  const search = params.toString();
  return `${BASE}${path.join("/")}${search === "" ? "" : `?${search}`}`;
}

/** Goes to an address of the page. @param how replace: without a history entry */
export function go(href: string, how: "push" | "replace" = "push"): void {
  const before = `${place.peek().view}/${place.peek().id}`;
  history.replaceState({ scroll: scrollY }, "");
  if (how === "push") history.pushState({ scroll: 0 }, "", href);
  else history.replaceState({ scroll: scrollY }, "", href);
  place.value = read();
  if (`${place.value.view}/${place.value.id}` !== before) scrollTo(0, 0);
}

/** The query of this place with some members changed; undefined removes one. */
export function withQuery(changes: Query): string {
  const { view, id, query } = place.value;
  const names = [...new Set(query.keys())];
  const now = Object.fromEntries(names.map((name) => [name, query.getAll(name)]));
  return hrefOf(view, id, { ...now, ...changes });
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || link.target !== "") return;
  if (!link.pathname.startsWith(BASE) || link.hash !== "") return;
  event.preventDefault();
  if (link.href !== location.href) go(link.href);
}

export function followAddress(): void {
  history.scrollRestoration = "manual";
  document.addEventListener("click", onClick);
  addEventListener("popstate", (event) => {
    place.value = read();
    const { scroll } = Object(event.state);
    // Lists get their height first.
    requestAnimationFrame(() => scrollTo(0, typeof scroll === "number" ? scroll : 0));
  });
}

/** A question passed to the search, which runs it at once. It is not in the address. */
export const question = signal<string | undefined>(undefined);
