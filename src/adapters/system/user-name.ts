import { readFileSync } from "node:fs";

/** For a system user without a name, as in some containers. */
const NAMELESS = "me";

/**
 * The name of the system user who runs this process: from the session, else from the list of users.
 * @param environment the variables of the process
 * @param list the file with the users, as passwd(5) describes it
 */
export function systemUserName(
  environment: Readonly<Record<string, string | undefined>>,
  list = "/etc/passwd",
): string {
  const { USER, LOGNAME, USERNAME } = environment;
  const isName = (name = "") => name.trim() !== "" && name.isWellFormed();
  const name = [USER, LOGNAME, USERNAME].find(isName) ?? listedName(list);
  return isName(name) ? (name ?? "").trim() : NAMELESS;
}

function listedName(path: string): string | undefined {
  const uid = process.getuid?.();
  try {
    const users = readFileSync(path, "utf8").split("\n");
    return users.map((line) => line.split(":")).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    // Some systems keep their users elsewhere.
    return undefined;
  }
}
