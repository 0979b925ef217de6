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

/** The findings of checks, counted by status. */
export function examinationOf(checks: Examination["checks"]): Examination {
  const counted = (wanted: string): number =>
    checks.filter(({ status }) => status === wanted).length;
  const failures = counted("fail");
  return { ok: failures === 0, passed: counted("ok"), warnings: counted("warn"), failures, checks };
}

/** Examines the pack of the server, completing even if the caller has gone: others may wait for the same result. */
export type Examine = () => Promise<Examination>;
