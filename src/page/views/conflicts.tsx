import type { VNode } from "preact";
import { t } from "../language/texts.ts";

export function openConflicts(): number | undefined {
  return undefined;
}

export function Conflicts(): VNode {
  return <h1 class="ttl">{t.frame.view.conflicts}</h1>;
}
