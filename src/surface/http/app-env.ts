import type { Hono } from "hono";

/** What the server passes beside the request. */
export type AppBindings = {
  /** Says who is to act: a caller that is to send may not be silent for long, a caller that waits for us may. */
  readonly turn?: (request: Request, of: "server" | "caller") => void;
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
