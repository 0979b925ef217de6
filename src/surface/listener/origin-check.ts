import { refuse } from "./answers.ts";
import { isLoopbackAddress } from "./bind.ts";

export type OriginRules = {
  /** Names of this server in addition to the loopback ones, without port: `memory.example`, `192.168.1.5`, `[fd00::1]`. */
  readonly allowedHosts: readonly string[];
  /** Web origins that may call, as in the CORS settings; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** Whether only pages of this very server may call, not those of other ports of this machine. Default false. */
  readonly isExact?: boolean | undefined;
  /** Whether the settings of the server can add names and origins, which the rejection then explains. Default true. */
  readonly isConfigurable?: boolean | undefined;
};

/** The answer to a request with an unreadable target, for which the listener has no full address; undefined for others. */
export function refuseUnreadable({ url }: Request): Response | undefined {
  return /^https?:/.test(url)
    ? undefined
    : refuse(400, "invalid_host", "Host: is missing, or not a host name");
}

/** The two checks of a request. Each returns the answer to a rejected one. */
export type OriginCheck = {
  /**
   * Rejects a foreign `Host`. If a name is pointed at this machine (DNS rebinding), the browser treats its pages as ours; only the name in
   * `Host` reveals it.
   */
  host(request: Request): Response | undefined;
  /**
   * Rejects pages of other origins, whatever they request: a browser would only hide the answer, not prevent the write. Windows and frames
   * opened by other sites are rejected too, unless for a page.
   * @param isPage whether the path is a page that others may link to. Default false
   */
  origin(request: Request, isPage?: boolean): Response | undefined;
};

/** Keeps web pages away from a memory that trusts every program on its machine. */
export function createOriginCheck(rules: OriginRules): OriginCheck {
  const names = new Set(rules.allowedHosts.map((name) => hostName(name) ?? name));
  const isOurs = (name: string | undefined): boolean =>
    name !== undefined && (names.has(name) || isLoopbackName(name));
  // Nearly all requests have the same `Host`, which is parsed only once.
  let latest: string | undefined;
  const { isConfigurable = true, isExact = false } = rules;
  const isOpen = rules.corsOrigins.includes("*");
  const mayCall = (origin: string, headers: Headers): boolean =>
    isExact
      ? origin === `http://${headers.get("host")}`
      : isOpen || rules.corsOrigins.includes(origin) || isOurs(pageName(origin));
  /** The kind of a request without an origin: for an image or a script, or for a window or a frame. */
  const foreignSites = isExact ? ["cross-site", "same-site"] : ["cross-site"];
  return {
    host: (request) => {
      const host = request.headers.get("host") ?? new URL(request.url).host;
      if (host === latest) return undefined;
      if (!isOurs(hostName(host))) return foreignHost(host, isConfigurable);
      latest = host;
      return undefined;
    },
    origin: ({ headers }, isPage = false) => {
      const origin = headers.get("origin");
      if (origin !== null) {
        return mayCall(origin, headers) ? undefined : foreignPage(origin, isConfigurable);
      }
      const isForeign = foreignSites.includes(headers.get("sec-fetch-site") ?? "");
      const isLinked = isPage && headers.get("sec-fetch-mode") === "navigate";
      return isForeign && !isLinked && !isOpen ? foreignPage("unnamed", isConfigurable) : undefined;
    },
  };
}

/** The name in a `Host` header, normalised, without port and final dot; undefined if it is not a valid name. */
function hostName(host: string): string | undefined {
  if (!/^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d*)?$/i.test(host)) return undefined;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "");
}

function pageName(origin: string): string | undefined {
  const authority = /^https?:\/\/([^/?#@]+)$/i.exec(origin)?.[1];
  return authority === undefined ? undefined : hostName(authority);
}

function isLoopbackName(name: string): boolean {
  return name === "localhost" || isLoopbackAddress(name.replace(/^\[(.*)\]$/, "$1"));
}

function foreignHost(host: string, isConfigurable: boolean): Response {
  const remedy = isConfigurable ? ", or add the name to api.allowed_hosts" : "";
  return refuse(
    421,
    "foreign_host",
    `Host: ${shown(host)} is not a name of this server; use localhost or 127.0.0.1${remedy}`,
  );
}

function foreignPage(origin: string, isConfigurable: boolean): Response {
  const remedy = isConfigurable
    ? "; if the page is yours, add its origin to api.cors_origins"
    : "; only pages of this machine may";
  return refuse(
    403,
    "foreign_origin",
    `Origin: ${shown(origin)} may not call this server${remedy}`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
