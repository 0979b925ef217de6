export const FINDING_STATUSES = ["ok", "warn", "fail"] as const;

/** What `svc doctor` finds. */
export type Examination = {
  readonly ok: boolean;
  readonly passed: number;
  readonly warnings: number;
  readonly failures: number;
  readonly checks: readonly {
    readonly name: string;
    readonly status: (typeof FINDING_STATUSES)[number];
    readonly message: string;
  }[];
};

/** Examines the pack of the server. @param signal aborted when the caller has gone */
export type Examine = (signal: AbortSignal | undefined) => Promise<Examination>;
