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

/** Examines the pack of the server, to its end even if the caller has gone: others may wait for the same result. */
export type Examine = () => Promise<Examination>;
