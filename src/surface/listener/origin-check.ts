import { refuse } from "./answers.ts";
import { isLoopbackAddress } from "./bind.ts";

export type OriginRules = {
  /** Names of this server in addition to the loopback ones, without port: `memory.example`, `192.168.1.5`, `[fd00::1]`. */
  readonly allowedHosts: readonly string[];
  /** Pages that may call, as in the CORS settings; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** Whether only pages of this very server may call, not those of other ports of this machine. Default false. */
  readonly isExact?: boolean | undefined;
  /** Whether the settings of the server can add names and pages, so that a refusal explains how. Default true. */
  readonly isConfigurable?: boolean | undefined;
};

/** The answer to a request with an unreadable target, to which the listener gives no full address; undefined for others. */
export function refuseUnreadable({ url }: Request): Response | undefined {
  return /^https?:/.test(url)
    ? undefined
    : refuse(400, "invalid_host", "Host: is missing, or not a host name");
}

/** The two checks of a request. Each returns the answer to a refused one. */
export type OriginCheck = {
  /**
   * Refuses a `Host` that is not ours. If the owner of a name points it at this machine (DNS rebinding), a page of that name has
   * our origin as far as the browser knows; only the name in `Host` gives it away.
   */
  host(request: Request): Response | undefined;
  /**
   * Refuses pages of other origins, whatever they request: a browser would only keep them from reading the answer, not from
   * writing. What another site opens, as a window or in a frame, is refused, too, unless it is a page.
   * @param isPage whether the path is a page that anybody may link to. Default false
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
  /** Where a request comes from that does not name its page: one for an image or a script, or for a window or a frame. */
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
