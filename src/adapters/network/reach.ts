import { hostOf, isPrivateAddress } from "../../domain/addresses.ts";

/**
 * `fetch`, as every request to another program is made: a proxy of the environment gets nothing that is for this machine or its
 * network.
 */
export function reach(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const address = input instanceof Request ? input.url : String(input);
  // SAFETY: Bun takes `false` for no proxy, which its types lack; undefined would be that of the environment.
  const proxy = (proxyOf(address) ?? false) as string;
  return fetch(input, { ...init, proxy });
}

/** Words for the proxy between this machine and an address, without its credentials; empty if there is none. */
export function throughProxy(address: string): string {
  const proxy = proxyOf(address);
  return proxy === undefined ? "" : ` through the proxy ${proxyName(proxy)}`;
}

function proxyOf(address: string): string | undefined {
  return proxyFor(address, process.env);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for an address: none for this machine and its network, nor for the hosts of `NO_PROXY`.
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
