import { createHmac } from "node:crypto";
import { asUuid, type Uuid } from "../lib/uuid.ts";
import type { HookClient } from "./clients.ts";
import type { Project } from "./project.ts";

/** Something said in a session, as it is stored: without secrets and private parts. */
export type Turn = {
  /** Equal for every delivery of the same words in the same session. */
  readonly id: Uuid;
  readonly client: HookClient;
  readonly session: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  /** When it was said, or heard: ISO 8601. */
  readonly at: string;
  /** Undefined: the owner of the pack. */
  readonly user: string | undefined;
  readonly project: Project | undefined;
  /** Secrets taken out, by kind. */
  readonly secrets: Readonly<Record<string, number>>;
};

/**
 * The id of a turn: a keyed hash, so that it confirms no guess about a text to anybody without this user's secret.
 * @param secret of this user
 */
export function turnId(
  secret: string,
  { client, session, role, text }: Pick<Turn, "client" | "session" | "role" | "text">,
): Uuid {
  const hex = createHmac("sha256", secret)
    .update(JSON.stringify(["svc:turn:v1", client, session, role, text]))
    .digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return asUuid(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`,
  );
}
