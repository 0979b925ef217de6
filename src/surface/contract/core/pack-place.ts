import { SvcError } from "../../../domain/errors.ts";

/** A message without the place of the pack: who asks from elsewhere has no use for it, and learns the server's folders. */
export function withoutPlace(message: string, error: unknown): string {
  const path = error instanceof SvcError ? error.data["path"] : undefined;
  return typeof path === "string" && path !== "" ? message.replaceAll(path, "<pack>") : message;
}
