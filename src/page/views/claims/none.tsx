import type { VNode } from "preact";
import { t } from "../../language/texts.ts";
import { Command } from "../../parts/controls.tsx";
import { Box } from "../../parts/states.tsx";

/** What a memory needs to be a claim. */
const CLAIM = '{"subject":"I","predicate":"drink","object":"tea"}';

/** No claim was counted, which is no zero where texts state nothing in parts. */
export function NoClaims({ exclusions }: { exclusions: Readonly<Record<string, number>> }): VNode {
  const without = exclusions["missing_structured_assertion"] ?? 0;
  return (
    <Box title={t.claims.none}>
      <p>{t.claims.noneText}</p>
      {without > 0 && (
        <>
          <p>{t.claims.noClaims(without)}</p>
          <Command>{CLAIM}</Command>
        </>
      )}
    </Box>
  );
}
