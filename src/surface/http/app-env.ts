import type { Hono } from "hono";
import type { Turn } from "../listener/door.ts";

/** What the server passes along with the request. */
export type AppBindings = {
  readonly turn?: Turn;
};

/** State of a request, for the parts of the interface. */
export type AppEnv = {
  readonly Bindings: AppBindings;
  readonly Variables: {
    /** As in the OpenAPI document, with `{name}` for path parameters. */
    readonly route?: string;
  };
};
export type HttpApp = Hono<AppEnv>;
