import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { requireOperator } from "../contract/core/caller.ts";
import { NO_FRAME, refuseMethod } from "../listener/answers.ts";
import { type Authenticate, isKnown } from "../listener/auth.ts";
import type { HttpApp } from "./app-env.ts";

/** The path of the metrics, in the text format of Prometheus. */
const METRICS_PATH = "/metrics";

export type AnsweredRequest = {
  readonly method: string;
  /** With `{name}` for path parameters; `unmatched` for no route. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** Metrics of a server. Never a text, an id or the name of an owner. */
export type Metrics = {
  /** Counts a request as running. @returns a function that ends it */
  begin(): (answered: AnsweredRequest) => void;
  /** Everything in the text format of Prometheus. @param engine undefined while it is being opened */
  text(engine: MemoryEngine | undefined): Promise<string>;
  readonly contentType: string;
};

/** Who may read them besides operators. */
export type MetricsAccess = {
  readonly metrics: Metrics;
  /** Accepts the metrics-only key. Absent: there is none. */
  readonly authenticate?: Authenticate | undefined;
};

/**
 * Metrics over all owners: for operators, and for the metrics-only key.
 * @param authenticate undefined: there are no keys of operators or owners, and anyone may read them if no metrics key is set
 */
export function addMetrics(
  app: HttpApp,
  { metrics, authenticate: byOwnKey }: MetricsAccess,
  authenticate: Authenticate | undefined,
  engine: () => MemoryEngine | undefined,
): void {
  app.get(METRICS_PATH, async (context) => {
    context.set("route", METRICS_PATH);
    const authorization = context.req.header("authorization");
    if (authenticate === undefined) byOwnKey?.(authorization);
    else if (byOwnKey === undefined || !isKnown(byOwnKey, authorization)) {
      requireOperator(authenticate(authorization));
    }
    return new Response(await metrics.text(engine()), {
      headers: {
        "content-type": metrics.contentType,
        "cache-control": "no-store",
        "content-security-policy": NO_FRAME,
      },
    });
  });
  app.all(METRICS_PATH, (context) => {
    context.set("route", METRICS_PATH);
    return refuseMethod("GET, HEAD");
  });
}
