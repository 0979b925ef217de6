import { proxyFor, proxyName } from "../../lib/proxy.ts";

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
