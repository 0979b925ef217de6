import { addDays, asInstant } from "../../lib/instant.ts";
import type { Node } from "../client/types.gen.ts";

/** When the retention of a memory ends; undefined: it is kept. */
export function endOf({ pinned, ttl_days, created_at }: Node): string | undefined {
  return pinned || ttl_days === null ? undefined : addDays(asInstant(created_at), ttl_days);
}
