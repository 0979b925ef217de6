import type { Context } from "hono";
import { OPERATIONS } from "../contract/core/operations.ts";
import { refuse, refuseMethod } from "../listener/answers.ts";
import type { AppEnv } from "./app-env.ts";
import { DOCUMENTATION_PATHS } from "./documentation.ts";

type KnownPath = { readonly path: string; readonly pattern: RegExp; readonly method: string };

const KNOWN_PATHS: readonly KnownPath[] = [
  ...OPERATIONS.flatMap(({ http }) => http ?? []),
  ...DOCUMENTATION_PATHS.map((path) => ({ path, method: "get" })),
].map(({ path, method }) => ({
  path,
  pattern: new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replace(/\{\w+_key\}$/, ".+")
      .replaceAll(/\{\w+\}/g, "[^/]+")}$`,
  ),
  method: method.toUpperCase(),
}));

/** The paths written out that a path with parameters matches as well; their operations come first in the table. */
export function pathsWithin(path: string): readonly string[] {
  const pattern = KNOWN_PATHS.find((known) => known.path === path)?.pattern;
  const paths = new Set(KNOWN_PATHS.map((known) => known.path));
  return [...paths].filter(
    (other) => other !== path && !other.includes("{") && pattern?.test(other) === true,
  );
}

/** A path with a redundant slash is redirected, a known path has other methods, and anything else does not exist. */
export function answerUnmatched(context: Context<AppEnv>): Response {
  const url = new URL(context.req.raw.url);
  const known = knownAt(url.pathname);
  if (known[0] !== undefined) {
    context.set("route", known[0].path);
    return refuseMethod(methodsOf(known).join(", "));
  }
  const trimmed = url.pathname.replace(/\/+$/, "");
  const [meant] = trimmed === url.pathname ? [] : knownAt(trimmed);
  if (meant !== undefined) {
    context.set("route", meant.path);
    return new Response(null, { status: 307, headers: { location: `${trimmed}${url.search}` } });
  }
  return refuse(404, "route_not_found", "Not Found");
}

/** A path that is written out is not meant as a parameter of another. */
function knownAt(path: string): readonly KnownPath[] {
  const written = KNOWN_PATHS.filter((known) => known.path === path);
  return written.length > 0 ? written : KNOWN_PATHS.filter(({ pattern }) => pattern.test(path));
}

/** Every GET route also answers HEAD. */
function methodsOf(known: readonly KnownPath[]): readonly string[] {
  const methods = known.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(methods)];
}
