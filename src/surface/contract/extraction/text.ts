import type { ExtractionPass } from "../../../engine/extract/api.ts";
import { counted } from "../core/tool-text.ts";

export function tellPass({ processed, pending, failed }: ExtractionPass): string {
  const rest = pending === 0 ? "none pending" : `${pending} pending`;
  const failures =
    failed === 0
      ? ""
      : ` ${counted(failed, "message", "messages")} failed: memory_extraction_status says why.`;
  return `${counted(processed, "message", "messages")} extracted, ${rest}.${failures}`;
}
