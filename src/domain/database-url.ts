import { SvcError } from "./errors.ts";

/**
 * What is meant as an address and so is never taken for a path: `scheme://` anywhere (in quotes, behind `NAME=`), the scheme of
 * PostgreSQL even where its slashes are wrong, and `name=value` pairs as `psql` takes them. One letter before the colon is a drive.
 */
const ADDRESS =
  /(?:[a-z][a-z0-9+.-]+:)+\/\/|^[\s"'`]*(?:(?:jdbc:)?postgres(?:ql)?:|\w+\s*=.*\s(?:host|hostaddr|port|dbname|user|password)\s*=)/i;
const OURS = /^postgres(?:ql)?:\/\//i;
const TLS_MODE = /^(?:disable|allow|prefer|require|verify-ca|verify-full)$/;
const FORM =
  "it looks like postgres://user:password@host:5432/database, and a password has %23 for #, %25 for %, %2F for /, %3A for :, %3F for ? and %40 for @";

/** Whether a text is meant as an address, usable or not. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Whether a text is the address of a server database. */
export function isDatabaseUrl(text: string): boolean {
  return databaseUrlProblem(text) === undefined;
}

/** Why a text is no address of a server database, as the rest of a sentence without any part of it; undefined if it is one. */
export function databaseUrlProblem(text: string): string | undefined {
  const reason = problemOf(text);
  return reason && `is no address of a database that can be used: ${reason}; ${FORM}`;
}

function problemOf(text: string): string | undefined {
  if (!OURS.test(text)) return "it does not begin with postgres://";
  // A parser takes control characters out, so that another address would be asked.
  if (/\p{Cc}/u.test(text)) return "it has a control character";
  // Of a password with such a character the rest would pass for the database, or be dropped; its beginning for the port.
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

/** The address of a database without user, password and parameters, as errors may show it. */
export function databasePlace(url: string): string {
  if (!isDatabaseUrl(url)) return "the database";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** A path as it was typed; of an address what a command needs beside the password: the user too, and how TLS is used. */
export function shownPlace(text: string): string {
  return isAddress(text) ? addressWithoutPassword(text) : text;
}

function addressWithoutPassword(url: string): string {
  const place = databasePlace(url);
  if (!isDatabaseUrl(url)) return place;
  const { username, searchParams } = new URL(url);
  // Behind an encoded colon, what passes for the user is a password.
  const user = username === "" || /%3a/i.test(username) ? "" : `${username}@`;
  const tls = TLS_MODE.exec(searchParams.get("sslmode") ?? "");
  const shown = tls === null ? place : `${place}?sslmode=${tls[0]}`;
  return shown.replace("://", () => `://${user}`);
}

/** The error for an address that cannot be used in place of a pack. */
export function unusableAddress(text: string): SvcError {
  const message = `${shownAddress(text)} ${databaseUrlProblem(text) ?? "is an address"}`;
  return new SvcError("invalid_config", message, { setting: "database_url" });
}

/** A text as a message may repeat it: of an address without what may be a password. */
export function withoutPassword(text: string): string {
  if (!isAddress(text)) return text;
  return text.replace(/:(\/*).*@/s, ":$1…@").replace(/(password\s*=).*/is, "$1…");
}

/** The scheme of an address, without the rest. */
export function shownAddress(text: string): string {
  const scheme = /^\s*([a-z][a-z0-9+.-]+):/i.exec(text)?.[1];
  return scheme === undefined ? "what was given" : `${scheme.toLowerCase()}:…`;
}
