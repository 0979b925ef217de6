import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./app-env.ts";

/**
 * Gives the answer to HEAD the length that GET's has. The router drops the body, and the socket would then send `Content-Length: 0`,
 * which is wrong (RFC 9110, 8.6).
 */
export function headLength(): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    await next();
    // An answer without a body has its right length, or, as 304, none.
    if (context.req.method !== "HEAD" || context.res.body === null) return;
    const { byteLength } = await context.res.clone().arrayBuffer();
    context.res.headers.set("content-length", String(byteLength));
  };
}
