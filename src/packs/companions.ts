import { existsSync } from "node:fs";
import { invalid } from "../domain/errors.ts";

/**
 * Refuses to write what SQLite would take for the log, the index or the journal of the file beside it, whether that is there now or not.
 * @throws SvcError invalid_argument
 */
export function requireNoCompanion(argument: string, path: string): void {
  const own = /^(?<own>.+)-(?:wal|shm|journal)$/s.exec(path)?.groups?.["own"];
  if (own === undefined || !existsSync(own)) return;
  throw invalid(argument, `${path} is a file of ${own}, which it would destroy; name another file`);
}
