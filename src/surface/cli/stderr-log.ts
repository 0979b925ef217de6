import type { Config } from "../../config/schema.ts";
import { printError } from "../../lib/standard-output.ts";
import type { Log, LogLevel } from "../contract/core/log.ts";

export const LOG_LEVELS = ["info", "warn", "error"] as const satisfies readonly LogLevel[];

type Line = Parameters<Log>;

/** A log on stderr: one line per message, without those below `least`. @param format default `text` */
export function stderrLog(least: LogLevel, format: Config["log_format"] = "text"): Log {
  const threshold = LOG_LEVELS.indexOf(least);
  const write = format === "json" ? asJson : asText;
  return (...line) => {
    if (LOG_LEVELS.indexOf(line[0]) >= threshold) printError(`${write(...line)}\n`);
  };
}

function asText(...[level, message, fields = {}]: Line): string {
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`);
  return `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)} ${message}${details.join("")}`;
}

function asJson(...[level, message, fields]: Line): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
}
