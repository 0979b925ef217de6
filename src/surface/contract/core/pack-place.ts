import { SvcError } from "../../../domain/errors.ts";

/** A message without the path of the pack, which is useless to a remote caller and would disclose the server's folders. */
export function withoutPlace(message: string, error: unknown): string {
  const path = error instanceof SvcError ? error.data["path"] : undefined;
  return typeof path === "string" && path !== "" ? message.replaceAll(path, "<pack>") : message;
}
