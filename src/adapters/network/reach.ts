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

/** Names that only this machine or its network resolves. */
const PRIVATE_NAME = /^[^.:]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;
/** 0/8, 10/8, 127/8, 169.254/16, 172.16/12, 192.168/16. */
const PRIVATE_V4 = /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\./;
/** The unspecified address, ::1, fc00::/7, fe80::/10. */
const PRIVATE_V6 = /^\[(?:::1?\]|f[cd][\da-f]{2}:|fe[89ab][\da-f]:)/;

/** Whether an address is on this machine or its network, by its name. */
export function isPrivateAddress(url: URL): boolean {
  const host = hostOf(url);
  const mapped = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(host);
  if (mapped !== null) {
    const [high = 0, low = 0] = mapped.slice(1).map((part) => Number.parseInt(part, 16));
    return PRIVATE_V4.test(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`);
  }
  const isV4 = /^\d+(?:\.\d+){3}$/.test(host);
  return isV4 ? PRIVATE_V4.test(host) : PRIVATE_V6.test(host) || PRIVATE_NAME.test(host);
}

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

function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, "");
}
