import { hostOf, isPrivateAddress } from "../../domain/addresses.ts";

/** The `fetch` for all requests to other programs: a proxy from the environment is not used for this machine or its network. */
export function reach(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const address = input instanceof Request ? input.url : String(input);
  // SAFETY: Bun takes `false` for no proxy, which its types lack; undefined would be that of the environment.
  const proxy = (proxyOf(address) ?? false) as string;
  return fetch(input, { ...init, proxy });
}

/** Describes the proxy between this machine and an address, without its credentials; empty if there is none. */
export function throughProxy(address: string): string {
  const proxy = proxyOf(address);
  return proxy === undefined ? "" : ` through the proxy ${proxyName(proxy)}`;
}

function proxyOf(address: string): string | undefined {
  return proxyFor(address, process.env);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy configured in the environment for an address: none for this machine and its network, nor for the hosts of `NO_PROXY`.
 * @param address an absolute URL; any other has none
 */
export function proxyFor(address: string, environment: Environment): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const read = (name: string) => environment[name] || environment[name.toUpperCase()] || undefined;
  const scheme = url.protocol.slice(0, -1);
  const proxy = read(`${scheme}_proxy`) ?? read("all_proxy");
  if (proxy === undefined || isPrivateAddress(url) || isExempt(url, read("no_proxy") ?? "")) {
    return undefined;
  }
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** Host and port of a proxy, without its credentials. */
export function proxyName(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : "of the environment";
}

function isExempt(url: URL, list: string): boolean {
  const host = hostOf(url);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const name = entry.replace(/^\*?\./, "");
      if (name === "*") return true;
      const named = [host, `${host}:${port}`, host.replace(/^\[|\]$/g, "")];
      return name !== "" && named.some((one) => one === name || one.endsWith(`.${name}`));
    });
}

/** How much of an answer is read. */
export type AnswerBounds = {
  readonly bytes: number;
  /** Lists and objects, including those within texts: as objects they take up to a hundred times the bytes of their text. */
  readonly openings: number;
};

/** An oversized answer. */
export class Oversized extends Error {}

const BRACKET = 0x5b;
const BRACE = 0x7b;

/** The pieces of JSON within bounds. @throws Oversized beyond them; the rest is not read */
export function bounded(
  body: ReadableStream<Uint8Array>,
  bounds: AnswerBounds,
  onOversized: () => void = () => {},
): ReadableStream<Uint8Array> {
  let size = 0;
  let openings = 0;
  const transform = (
    piece: Uint8Array,
    stream: TransformStreamDefaultController<Uint8Array>,
  ): void => {
    size += piece.byteLength;
    for (const byte of piece) if (byte === BRACKET || byte === BRACE) openings += 1;
    if (size <= bounds.bytes && openings <= bounds.openings) stream.enqueue(piece);
    else {
      onOversized();
      stream.error(new Oversized("an answer is too large"));
    }
  };
  return body.pipeThrough(new TransformStream({ transform }));
}

/** The text of an answer; empty unless its status is 200: then it is not read. @throws Oversized */
export async function boundedText(response: Response, bounds: AnswerBounds): Promise<string> {
  const { status, body } = response;
  if (status === 200 && body !== null) return await new Response(bounded(body, bounds)).text();
  // Not awaited: a hanging connection would delay its own end.
  void body?.cancel().catch(() => {});
  return "";
}
