import type { Log, LogLevel } from "../contract/core/log.ts";

export const LOG_LEVELS = ["info", "warn", "error"] as const satisfies readonly LogLevel[];

/** A log on stderr: one line per message, without those below `least`. */
export function stderrLog(least: LogLevel): Log {
  const threshold = LOG_LEVELS.indexOf(least);
  return (level, message, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const details = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
    const head = `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)}`;
    process.stderr.write(`${head} ${message}${details.join("")}\n`);
  };
}
