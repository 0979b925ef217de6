/** A message as some clients send it, with null for no parameters or no arguments, which the protocol has absent. */
export function withoutNulls(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params) || params["arguments"] !== null) return message;
  const { arguments: _none, ...others } = params;
  return { ...message, params: others };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
