/** Why no extraction came of a request: stable names that jobs, statuses and errors show. Never a provider's own words. */
export const FAILURE_CODES = [
  "TimeoutError",
  "ValidationError",
  "AuthenticationError",
  "PermissionDeniedError",
  "NotFoundError",
  "BadRequestError",
  "UnprocessableEntityError",
  "RateLimitError",
  "InternalServerError",
  "APIConnectionError",
  "StaleDerivationPlanError",
  "Cancelled",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Causes of causes that are looked at. */
const MAX_CAUSES = 32;
const MAX_CODE_CHARS = 100;

const BY_STATUS: ReadonlyMap<number, FailureCode> = new Map([
  [400, "BadRequestError"],
  [401, "AuthenticationError"],
  [403, "PermissionDeniedError"],
  [404, "NotFoundError"],
  [408, "TimeoutError"],
  // Refused as too large: a smaller request may pass.
  [413, "BadRequestError"],
  [422, "UnprocessableEntityError"],
  [429, "RateLimitError"],
]);

/** The code of a provider's HTTP status. Undefined for one that is no failure of this kind. */
export function failureOfStatus(status: number): FailureCode | undefined {
  return BY_STATUS.get(status) ?? (status >= 500 ? "InternalServerError" : undefined);
}

/** Whether a request of several turns is worth asking again as two halves. */
export function isWorthSplitting(code: string): boolean {
  return code === "ValidationError" || isRefusal(code);
}

/** Whether a single turn with this failure ends the whole split: a provider that is dead answers no other half either. */
export function endsSplit(code: string): boolean {
  return isRefusal(code);
}

function isRefusal(code: string): boolean {
  return code === "TimeoutError" || code === "BadRequestError";
}

/** What an error says about itself, as far as this module reads it. */
type Cause = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly data?: unknown;
  readonly reason_code?: unknown;
  readonly cause?: unknown;
};

/**
 * The reason code of an error: that of the first known cause in its chain, otherwise the name of the last error in it. ASCII letters,
 * digits and `_`, 1 to 100 characters.
 */
export function failureCode(error: unknown): string {
  let name = "Error";
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && isObject(current); depth += 1) {
    const known = knownCode(current);
    if (known !== undefined) return known;
    if (typeof current.name === "string") name = current.name;
    current = current.cause;
  }
  return name.replace(/[^A-Za-z0-9_]/g, "").slice(0, MAX_CODE_CHARS) || "Error";
}

function knownCode(error: Cause): FailureCode | undefined {
  const { data, name } = error;
  const status = error.status ?? (isObject(data) ? data.status : undefined);
  const ofStatus = typeof status === "number" ? failureOfStatus(status) : undefined;
  if (ofStatus !== undefined) return ofStatus;
  const stated = isObject(data) ? data.reason_code : undefined;
  return FAILURE_CODES.find((code) => code === name || code === stated);
}

function isObject(value: unknown): value is Cause {
  return typeof value === "object" && value !== null;
}
