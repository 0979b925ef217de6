import type { Hono } from "hono";
import type { Turn } from "../listener/door.ts";

/** What the server passes beside the request. */
export type AppBindings = {
  readonly turn?: Turn;
};

/** What the parts of the interface know of a request. */
export type AppEnv = {
  readonly Bindings: AppBindings;
  readonly Variables: {
    /** As in the OpenAPI document, with `{name}` for path parameters. */
    readonly route?: string;
  };
};
export type HttpApp = Hono<AppEnv>;
