import { userInfo } from "node:os";

/** For a user of the system without a name, as in some containers. */
const NAMELESS = "me";

/** The name of the user of the system who runs this process. */
export function systemUserName(): string {
  try {
    const name = userInfo().username.trim();
    return name === "" || !name.isWellFormed() ? NAMELESS : name;
  } catch {
    return NAMELESS;
  }
}
