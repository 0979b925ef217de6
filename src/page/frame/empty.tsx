import type { VNode } from "preact";
import { t } from "../language/texts.ts";
import { Command } from "../parts/controls.tsx";
import { Box } from "../parts/states.tsx";

/** A memory in which nothing is, and how something gets into it. */
export function Empty(): VNode {
  return (
    <>
      <h1 class="vh">{t.frame.view.timeline}</h1>
      <Box title={t.frame.noOwnerTitle}>
        <p>{t.frame.noOwner}</p>
        <Command>svc connect claude-code --db-path ./memory.pack</Command>
        <Command>svc store ./memory.pack "Anna prefers tea"</Command>
      </Box>
    </>
  );
}
