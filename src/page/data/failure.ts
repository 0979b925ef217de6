/** Why a call brought no answer. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  /** HTTP status; 0 when the server did not answer. */
  readonly status: number;
  /** An error code of the interface, `lost` without an answer, `unreadable` for an answer that is not JSON. */
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** What a thrown value is for the page. */
export function asFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  return new CallFailure(0, "page", error instanceof Error ? error.message : String(error));
}

/** Whether the server did not answer at all. */
export function isLost({ status }: CallFailure): boolean {
  return status === 0 || status === 502 || status === 504;
}
