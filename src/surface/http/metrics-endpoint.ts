import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { requireOperator } from "../contract/core/caller.ts";
import { NO_FRAME, refuseMethod } from "../listener/answers.ts";
import { type Authenticate, isKnown } from "../listener/auth.ts";
import type { HttpApp } from "./app-env.ts";

/** Where the numbers are, in the text format of Prometheus. */
const METRICS_PATH = "/metrics";

/** A request that was answered. */
export type AnsweredRequest = {
  readonly method: string;
  /** With `{name}` for path parameters; `unmatched` for no route. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** Numbers about a server for those who watch it. Never a text, an id or the name of an owner. */
export type Metrics = {
  /** Counts a request in. @returns counts it out */
  begin(): (answered: AnsweredRequest) => void;
  /** Everything in the text format of Prometheus. @param engine undefined while it is being opened */
  text(engine: MemoryEngine | undefined): Promise<string>;
  readonly contentType: string;
};

/** Who may read them, besides operators. */
export type MetricsAccess = {
  readonly metrics: Metrics;
  /** Knows the key that opens nothing else. Absent: there is none. */
  readonly authenticate?: Authenticate | undefined;
};

/**
 * Numbers over all owners: for operators, and for the key that opens nothing else.
 * @param authenticate undefined: there are no keys of operators or owners, and everybody may read them who needs no other key
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
