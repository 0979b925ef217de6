import { t } from "../language/texts.ts";

/** Whether what is kept is encrypted, in words. @param encrypted null where nobody here knows */
export function encryption(encrypted: boolean | null): string {
  if (encrypted === null) return t.frame.byServer;
  return encrypted ? t.frame.encrypted : t.frame.unencrypted;
}
