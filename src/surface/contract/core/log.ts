export type LogLevel = "info" | "warn" | "error";

/** Where a surface reports events. Neither the message nor the fields ever contain memory text, keys or query strings. */
export type Log = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, string | number>>,
) => void;

/** The failure, for the log: kind, message and origin of an error and of its causes. */
export function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\ncaused by ${describeCause(error.cause)}`;
}
