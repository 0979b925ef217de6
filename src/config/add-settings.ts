import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  writeSync,
} from "node:fs";
import { invalid, SvcError } from "../domain/errors.ts";
import { readSettingsFile } from "./settings-file.ts";

/**
 * Appends settings to a file `.env`, which is made if it is missing. Only this user can read it afterwards, since it may hold a key.
 * @param path absolute
 * @throws SvcError invalid_argument if the file has one of the settings already, or is one that would not be read; storage_failed
 */
export function addSettings(path: string, settings: ReadonlyMap<string, string>): void {
  const { variables, warnings } = readSettingsFile({ path, found: "beside-pack" });
  const [problem] = warnings;
  if (problem !== undefined) throw invalid(".env", problem);
  const taken = [...settings.keys()].find((name) => variables.has(name));
  if (taken !== undefined) throw invalid(".env", `${path} has ${taken} already; change it there`);
  const lines = [...settings].map(([name, value]) => `${name}=${quoted(value)}\n`);
  try {
    append(path, lines.join(""));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    throw new SvcError("storage_failed", `${path} cannot be written (${code})`, {
      path,
      reason: code,
    });
  }
}

function append(path: string, text: string): void {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  // A link that appears now would lead elsewhere.
  const handle = openSync(path, O_RDWR | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0), 0o600);
  try {
    fchmodSync(handle, 0o600);
    writeSync(handle, fstatSync(handle).size === 0 ? text : `\n${text}`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A value as a settings file has it. */
function quoted(value: string): string {
  if (/^[\w@%+:,./-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/["\\$]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
