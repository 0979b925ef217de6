/** A request's trace, as stated by the caller. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's span that made the request. */
  readonly parentSpanId: string;
};

/**
 * Reads a `traceparent` header (W3C Trace Context, section 3.2): undefined if it is absent or malformed, or if an identifier is
 * all zeros. For versions after `00`, the fields of `00` are read.
 */
export function parseTraceparent(header: string | null): TraceContext | undefined {
  if (header === null) return undefined;
  const fields =
    /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(
      header.trim(),
    );
  const [, version, traceId, parentSpanId, rest] = fields ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  return version === "00" && rest !== undefined ? undefined : { traceId, parentSpanId };
}
