import { SvcError } from "./errors.ts";

export const STORE_BACKENDS = ["sqlite", "postgres"] as const;
export type StoreBackend = (typeof STORE_BACKENDS)[number];

/**
 * Texts treated as addresses and never as paths: `scheme://` anywhere (in quotes, after `NAME=`), the scheme of PostgreSQL even with wrong
 * slashes, and `name=value` pairs as `psql` accepts them. One letter before the colon is a drive.
 */
const ADDRESS =
  /(?:[a-z][a-z0-9+.-]+:)+\/\/|^[\s"'`]*(?:(?:jdbc:)?postgres(?:ql)?:|\w+\s*=.*\s(?:host|hostaddr|port|dbname|user|password)\s*=)/i;
const OURS = /^postgres(?:ql)?:\/\//i;
const TLS_MODE = /^(?:disable|allow|prefer|require|verify-ca|verify-full)$/;
const FORM =
  "it looks like postgres://user:password@host:5432/database, and a password has %23 for #, %25 for %, %2F for /, %3A for :, %3F for ? and %40 for @";

/** Whether a text is intended as an address, usable or not. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

export function isDatabaseUrl(text: string): boolean {
  return databaseUrlProblem(text) === undefined;
}

/** Why a text is not an address of a server database, as the rest of a sentence that repeats no part of it; undefined if it is one. */
export function databaseUrlProblem(text: string): string | undefined {
  const reason = problemOf(text);
  return reason && `is no address of a database that can be used: ${reason}; ${FORM}`;
}

function problemOf(text: string): string | undefined {
  if (!OURS.test(text)) return "it does not begin with postgres://";
  // A parser drops control characters, so that another address would be used.
  if (/\p{Cc}/u.test(text)) return "it has a control character";
  // With such a character in a password, the rest would be read as the database or dropped, and the beginning as the port.
  const behindHost = text.replace(OURS, "").replace(/^[^/?#]*/, "");
  if (behindHost.includes("#")) return "it has a # that is not written %23";
  if (behindHost.includes("@")) return "it has a / or a ? before the last @";
  if (!URL.canParse(text)) return "its host or its port is malformed";
  const { username, password, pathname } = new URL(text);
  return [username, password, pathname].every(isDecodable)
    ? undefined
    : "it has a % that is not followed by the two digits of a character";
}

function isDecodable(part: string): boolean {
  try {
    return !decodeURIComponent(part).includes("\0");
  } catch {
    return false;
  }
}

/** The address of a database without user, password and parameters, for error messages. */
export function databasePlace(url: string): string {
  if (!isDatabaseUrl(url)) return "the database";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** A path as typed; for an address, what a command needs besides the password: also the user and the TLS mode. */
export function shownPlace(text: string): string {
  return isAddress(text) ? addressWithoutPassword(text) : text;
}

function addressWithoutPassword(url: string): string {
  const place = databasePlace(url);
  if (!isDatabaseUrl(url)) return place;
  const { username, searchParams } = new URL(url);
  // After an encoded colon, what looks like the user is a password.
  const user = username === "" || /%3a/i.test(username) ? "" : `${username}@`;
  const tls = TLS_MODE.exec(searchParams.get("sslmode") ?? "");
  const shown = tls === null ? place : `${place}?sslmode=${tls[0]}`;
  return shown.replace("://", () => `://${user}`);
}

/** The error for an address that cannot be used as a pack. */
export function unusableAddress(text: string): SvcError {
  const message = `${shownAddress(text)} ${databaseUrlProblem(text) ?? "is an address"}`;
  return new SvcError("invalid_config", message, { setting: "database_url" });
}

/** A text for use in messages: an address loses whatever may be a password. */
export function withoutPassword(text: string): string {
  if (!isAddress(text)) return text;
  return text.replace(/:(\/*).*@/s, ":$1…@").replace(/(password\s*=).*/is, "$1…");
}

/** The scheme of an address, without the rest. */
export function shownAddress(text: string): string {
  const scheme = /^\s*([a-z][a-z0-9+.-]+):/i.exec(text)?.[1];
  return scheme === undefined ? "what was given" : `${scheme.toLowerCase()}:…`;
}

const DEFAULT_ADDRESSES = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  ollama: "http://localhost:11434/v1",
} as const;

export type ModelProvider = keyof typeof DEFAULT_ADDRESSES;

/** The base address of a provider's interface, without a trailing slash. @param baseUrl the setting. Default: the provider's own */
export function providerAddress(provider: ModelProvider, baseUrl: string | undefined): string {
  const url = (baseUrl ?? DEFAULT_ADDRESSES[provider]).replace(/\/+$/, "");
  // Users know the server by its bare address.
  const isBare = provider === "ollama" && URL.canParse(url) && new URL(url).pathname === "/";
  return isBare ? `${url}/v1` : url;
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * The address in the variable of Ollama's own tools: `host`, `host:port` or a whole address. If its server listens on all addresses, this
 * machine's is used.
 */
export function ollamaAddress(host: string): string {
  const given = /^https?:\/\//i.test(host) ? host : `http://${host}`;
  if (!URL.canParse(given)) return host;
  const url = new URL(given);
  if (["0.0.0.0", "[::]"].includes(url.hostname)) url.hostname = "127.0.0.1";
  const hasPort = /:\d+(?:\/|$)/.test(given);
  if (!hasPort && given !== host) url.port = "11434";
  return url.href.replace(/\/+$/, "");
}

/** The host that receives what is sent to a provider, as shown to a person. */
export function providerHost(provider: ModelProvider, baseUrl: string | undefined): string {
  const address = providerAddress(provider, baseUrl);
  return URL.canParse(address) ? new URL(address).host : "an unknown host";
}

/** What a provider's HTTP status means, as the end of a sentence that begins with its name. */
export function statusInWords(status: number): string {
  if (status >= 300 && status < 400) {
    return `redirects to another address (status ${status}): set the final one`;
  }
  if (status === 401 || status === 403) return `refused the key (status ${status}): check it`;
  if (status === 404) return "does not know the model, or the address is wrong (status 404)";
  if (status === 429) return "is asked too often, or the quota is used up (status 429)";
  if (status >= 500) return `has a problem (status ${status}): try again later`;
  return status >= 400
    ? `refused the request (status ${status})`
    : `answered in an unreadable form (status ${status})`;
}

/** Names that only this machine or its network resolves. */
const PRIVATE_NAME = /^[^.:]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;
/** 0/8, 10/8, 127/8, 169.254/16, 172.16/12, 192.168/16. */
const PRIVATE_V4 = /^(?:0|10|127|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\./;
/** The unspecified address, ::1, fc00::/7, fe80::/10. */
const PRIVATE_V6 = /^\[(?:::1?\]|f[cd][\da-f]{2}:|fe[89ab][\da-f]:)/;

/** Whether an address is on this machine or its network, judging by its name. */
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

/** The host of an address, in lower case and without a trailing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, "");
}
