import { refuse } from "./answers.ts";
import { isLoopbackAddress } from "./bind.ts";

export type OriginRules = {
  /** Names of this server beside the loopback ones, without port: `memory.example`, `192.168.1.5`, `[fd00::1]`. */
  readonly allowedHosts: readonly string[];
  /** Pages that may call, as in the settings of CORS; `*` for all. */
  readonly corsOrigins: readonly string[];
  /** Whether the settings of the server can add names and pages, and a refusal says how. Default true. */
  readonly isConfigurable?: boolean | undefined;
};

/** The answer to a request whose target cannot be read, which the listener gives no full address; undefined for others. */
export function refuseUnreadable({ url }: Request): Response | undefined {
  return /^https?:/.test(url)
    ? undefined
    : refuse(400, "invalid_host", "Host: is missing, or not a host name");
}

/** The two checks of a request, each answering one that is refused. */
export type OriginCheck = {
  /**
   * Refuses a name that is not ours. A page whose name its owner points at this machine (DNS rebinding) has the same
   * origin as we have for a browser; only the name in `Host` gives it away.
   */
  host(request: Request): Response | undefined;
  /** Refuses pages of other origins, whatever they ask: a browser would let them write, only not read the answer. */
  origin(request: Request): Response | undefined;
};

/** Keeps the pages that a browser shows away from a memory that trusts every program of its machine. */
export function createOriginCheck(rules: OriginRules): OriginCheck {
  const names = new Set(rules.allowedHosts.map((name) => hostName(name) ?? name));
  const isOurs = (name: string | undefined): boolean =>
    name !== undefined && (names.has(name) || isLoopbackName(name));
  // Nearly all requests name the same host; it is not taken apart again each time.
  let latest: string | undefined;
  const { isConfigurable = true } = rules;
  const isOpen = rules.corsOrigins.includes("*");
  const mayCall = (origin: string): boolean =>
    isOpen || rules.corsOrigins.includes(origin) || isOurs(pageName(origin));
  return {
    host: (request) => {
      const host = request.headers.get("host") ?? new URL(request.url).host;
      if (host === latest) return undefined;
      if (!isOurs(hostName(host))) return foreignHost(host, isConfigurable);
      latest = host;
      return undefined;
    },
    origin: ({ headers }) => {
      const origin = headers.get("origin");
      if (origin !== null) return mayCall(origin) ? undefined : foreignPage(origin, isConfigurable);
      // An image or a script of a foreign page is asked for without naming that page.
      const isEmbedded =
        headers.get("sec-fetch-site") === "cross-site" &&
        headers.get("sec-fetch-mode") === "no-cors";
      return isEmbedded && !isOpen ? foreignPage("unnamed", isConfigurable) : undefined;
    },
  };
}

/** The name in a `Host` header in one spelling, without port and final dot; undefined when it is none. */
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
